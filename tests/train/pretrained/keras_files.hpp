// Keras model files for tests, from hand-written configurations and weights.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include <weft/train/files/hdf5/hdf5_writer.hpp>
#include <weft/train/pretrained/keras/keras_files.hpp>

namespace weft::keras_test {

using nlohmann::json;

// The weights of a layer: names and values.
using Weights = std::vector<std::pair<std::string, Tensor<float>>>;

// Writes a whole-model file as Keras does.
inline std::filesystem::path write_model(const std::filesystem::path& path, const json& config,
                                         const std::vector<std::pair<std::string, Weights>>& layers,
                                         const std::string& version = "2.11.0") {
  Hdf5Writer writer(path);
  writer.attribute("model_config", config.dump());
  writer.attribute("keras_version", version);
  writer.attribute("backend", std::string("tensorflow"));
  writer.group("model_weights");
  std::vector<std::string> names;
  for (const auto& [layer, weights] : layers) {
    names.push_back(layer);
    writer.group("model_weights/" + layer);
    std::vector<std::string> weight_names;
    for (const auto& [name, value] : weights) {
      weight_names.push_back(name);
      writer.tensor("model_weights/" + layer + "/" + name, value);
    }
    writer.attribute("model_weights/" + layer, "weight_names", weight_names);
  }
  writer.attribute("model_weights", "layer_names", names);
  writer.save();
  return path;
}

inline json layer(const std::string& class_name, const std::string& name, json options) {
  options["name"] = name;
  return {{"class_name", class_name}, {"config", options}};
}
inline json dense(const std::string& name, Index units) {
  return layer("Dense", name, {{"units", units}});
}
inline json input(const std::string& name, Index size) {
  return layer("InputLayer", name, {{"batch_input_shape", {nullptr, size}}});
}

inline json sequential(const json& layers) {
  return {{"class_name", "Sequential"}, {"config", {{"name", "model"}, {"layers", layers}}}};
}

// A functional model whose layers are called once each, with the named inputs.
inline json functional(std::vector<std::pair<json, std::vector<std::string>>> layers,
                       const std::string& output) {
  json list = json::array(), inputs = json::array();
  for (auto& [description, from] : layers) {
    json nodes = json::array();
    if (from.empty())
      inputs.push_back({description["config"]["name"], 0, 0});
    else {
      json node = json::array();
      for (const std::string& name : from) node.push_back({name, 0, 0, json::object()});
      nodes.push_back(node);
    }
    description["name"] = description["config"]["name"];
    description["inbound_nodes"] = nodes;
    list.push_back(description);
  }
  return {{"class_name", "Functional"},
          {"config",
           {{"name", "model"},
            {"layers", list},
            {"input_layers", inputs},
            {"output_layers", {{output, 0, 0}}}}}};
}

inline Tensor<float> output_of(const KerasModel<float>& model, const Tensor<float>& x) {
  Tape<float> tape = Tape<float>::inference();
  return model(tape.constant(x)).value();
}

}  // namespace weft::keras_test
