// KerasModel: models opened from files in Keras's layout, by hand-written configurations, and
// errors. tests/golden/keras_models_test.cpp compares models that Keras saved.
#include <weft/autograd/ops/reductions.hpp>
#include <weft/layers/summary.hpp>
#include <weft/train/batch_losses.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/files/hdf5/hdf5_writer.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/pretrained/keras/keras_files.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/pretrained/keras_files.hpp"
#include "tests/train/temporary_folder.hpp"
#include "train/pretrained/keras/internal/zip_archive.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using namespace keras_test;

const Tensor<float> kernel({2, 1}, {2, -1}), bias({1}, {0.5f});
const std::vector<std::pair<std::string, Weights>> dense_weights{
    {"dense", {{"dense/kernel:0", kernel}, {"dense/bias:0", bias}}}};

const Tensor<float> x({2, 2}, {1, 1, 3, 0});
const Tensor<float> y({2, 1}, {1.5f, 6.5f});  // x · kernel + bias

// Opens a model of one dense layer with an activation.
KerasModel<float> load_with_activation(const fs::path& path, const json& activation) {
  json layer = dense("dense", 1);
  layer["config"]["activation"] = activation;
  return load_keras(write_model(path, sequential({input("in", 2), layer}), dense_weights));
}

std::string message_of_loading(const fs::path& path) {
  return message_of<FileError>([&] { load_keras(path); });
}

TEST_CASE("a Sequential of one dense layer computes by hand") {
  const TemporaryFolder folder;
  const KerasModel model = load_keras(
      write_model(folder / "m.h5", sequential({input("in", 2), dense("dense", 1)}), dense_weights));
  CHECK(same(output_of(model, x), y));
  REQUIRE(model.inputs().size() == 1);
  CHECK(model.inputs()[0].name == "in");
  CHECK(model.inputs()[0].sizes == std::vector<Index>{2});
  CHECK(count_parameters(model) == 3);
  CHECK(named_parameters(model)[0].name == "dense.kernel");
}

TEST_CASE("a KerasModel can be moved and assigned") {
  const TemporaryFolder folder;
  KerasModel model = load_with_activation(folder / "m.h5", "linear");
  KerasModel moved = std::move(model);
  CHECK(same(output_of(moved, x), y));
  moved = load_with_activation(folder / "m.h5", "relu");
  CHECK(same(output_of(moved, Tensor<float>({1, 2}, {0, 1})), Tensor<float>({1, 1})));
}

TEST_CASE("a layer can be the activation of another, unless it has weights") {
  const TemporaryFolder folder;
  const KerasModel model =
      load_with_activation(folder / "m.h5", layer("LeakyReLU", "leaky", {{"alpha", 0.25}}));
  CHECK(same(output_of(model, Tensor<float>({2, 2}, {0, 2.5f, 1, 0})),
             Tensor<float>({2, 1}, {-0.5f, 2.5f})));
  CHECK(contains(message_of<FileError>([&] {
                   load_with_activation(folder / "m.h5", layer("PReLU", "parametric", {}));
                 }),
                 "activation: expected an activation function of Keras, got "));
}

TEST_CASE("names of layers and weights that Keras divides into several attributes") {
  const TemporaryFolder folder;
  const fs::path path = folder / "m.h5";
  const auto load = [&](const std::vector<std::string>& weight_names) {
    Hdf5Writer writer(path);
    writer.attribute("model_config", sequential({input("in", 2), dense("dense", 1)}).dump());
    writer.attribute("keras_version", std::string("2.11.0"));
    writer.group("model_weights");
    writer.attribute("model_weights", "layer_names0", std::vector<std::string>{"in"});
    writer.attribute("model_weights", "layer_names1", std::vector<std::string>{"dense"});
    writer.group("model_weights/in");
    writer.attribute("model_weights/in", "weight_names", std::vector<std::string>{});
    for (const auto& [name, value] : dense_weights[0].second)
      writer.tensor("model_weights/dense/" + name, value);
    for (std::size_t i = 0; i < weight_names.size(); ++i)
      writer.attribute("model_weights/dense", str_cat("weight_names", i),
                       std::vector<std::string>{weight_names[i]});
    writer.save();
    return load_keras(path);
  };
  CHECK(same(output_of(load({"dense/kernel:0", "dense/bias:0"}), x), y));
  CHECK(message_of<FileError>([&] { load({}); }) ==
        str_cat('"', path.string(),
                "\": expected an attribute weight_names of /model_weights/dense, got none"));
}

TEST_CASE("layers that share an input are added by a functional model") {
  const TemporaryFolder folder;
  const json config = functional({{dense("a", 1), {"in"}},
                                  {layer("Add", "sum", {}), {"a", "b"}},
                                  {input("in", 2), {}},
                                  {dense("b", 1), {"in"}}},
                                 "sum");
  const KerasModel model = load_keras(write_model(
      folder / "m.h5", config,
      {{"a", {{"k", kernel}, {"b", bias}}}, {"b", {{"k", kernel}, {"b", Tensor<float>({1})}}}}));
  CHECK(same(output_of(model, x), Tensor<float>({2, 1}, {2.5f, 12.5f})));
}

TEST_CASE("a model is saved in the form of its file, with its new weights") {
  const TemporaryFolder folder;
  KerasModel model = load_keras(
      write_model(folder / "m.h5", sequential({input("in", 2), dense("dense", 1)}), dense_weights));
  for (const auto& [name, parameter] : named_parameters(model))
    parameter->set_value(Tensor<float>::full(parameter->shape(), 2));
  save_keras(folder / "again.h5", model);
  const KerasModel again = load_keras(folder / "again.h5");
  CHECK(same(output_of(again, x), Tensor<float>({2, 1}, {6, 8})));
  save_keras(folder / "w.weights.h5", model);
  CHECK(Hdf5File(folder / "w.weights.h5").datasets() ==
        std::vector<std::string>{"/layers/dense/vars/0", "/layers/dense/vars/1"});
  CHECK(
      message_of<ValueError>([&] { save_keras(folder / "m.keras", model); }) ==
      str_cat("save_keras: path: expected a name that ends with .h5, .hdf5 or .weights.h5, got \"",
              (folder / "m.keras").string(), '"'));
}

TEST_CASE("a model of Keras 2 is opened from the JSON of its layers and a file of its weights") {
  const TemporaryFolder folder;
  json architecture = sequential({input("in", 2), dense("dense", 1)});
  const fs::path json_path = folder / "m.json", weights = folder / "w.h5";
  const auto message = [&] {
    return message_of<FileError>([&] { load_keras(json_path, weights); });
  };
  Hdf5Writer writer(weights);
  writer.attribute("layer_names", std::vector<std::string>{"in", "dense"});
  writer.group("in");
  writer.attribute("in", "weight_names", std::vector<std::string>{});
  for (const auto& [name, value] : dense_weights[0].second) writer.tensor("dense/" + name, value);
  writer.attribute("dense", "weight_names",
                   std::vector<std::string>{"dense/kernel:0", "dense/bias:0"});
  writer.save();
  write_bytes(json_path, architecture.dump());
  CHECK(message() == str_cat('"', json_path.string(),
                             "\": expected a model of Keras 2 or Keras 3, got no keras_version"));
  architecture["keras_version"] = "3.0.1";
  write_bytes(json_path, architecture.dump());
  CHECK(contains(message(), "the JSON of a model of Keras 2"));
  architecture["keras_version"] = "2.4.0";
  write_bytes(json_path, architecture.dump());
  const KerasModel model = load_keras(json_path, weights);
  CHECK(same(output_of(model, x), y));
  save_keras(folder / "whole.h5", model);
  CHECK(same(output_of(load_keras(folder / "whole.h5"), x), y));
  // The weights of a whole model are read as well.
  CHECK(same(output_of(load_keras(json_path, folder / "whole.h5"), x), y));

  architecture["config"]["layers"].push_back(dense("more", 1));
  write_bytes(json_path, architecture.dump());
  CHECK(contains(message(), "w.h5\": expected 2 weights of Dense 'more', got 0"));
  write_bytes(json_path, "{");
  CHECK(contains(message(), "m.json"));
  write_model(folder / "m.h5", sequential({input("in", 2)}), {});
  CHECK(contains(message_of<FileError>([&] { load_keras(folder / "m.h5", weights); }), "UTF-8"));
}

TEST_CASE("a .keras archive is opened and saved again with equal bytes") {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder / "w.h5");
  writer.tensor("layers/dense/vars/0", kernel);
  writer.tensor("layers/dense/vars/1", bias);
  write_zip(folder / "m.keras",
            {{"metadata.json", R"({"keras_version": "3.9.0"})"},
             {"config.json", sequential({input("in", 2), dense("dense", 1)}).dump()},
             {"assets/note.txt", "kept"},
             {"model.weights.h5", writer.bytes()}});
  const KerasModel model = load_keras(folder / "m.keras");
  CHECK(same(output_of(model, x), y));
  save_keras(folder / "again.keras", model);
  save_keras(folder / "thrice.keras", load_keras(folder / "again.keras"));
  const ZipMembers members = read_zip(folder / "again.keras");
  CHECK(members.at("assets/note.txt") == "kept");
  CHECK(members.at("config.json") == read_zip(folder / "m.keras").at("config.json"));
  CHECK(bytes_of(folder / "again.keras") == bytes_of(folder / "thrice.keras"));
}

TEST_CASE("a model of texts takes token ids, and its archive has the vocabulary") {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder / "w.h5");
  writer.tensor("layers/embedding/vars/0", Tensor<float>({3, 1}, {0, 5, 7}));
  write_zip(folder / "m.keras",
            {{"metadata.json", R"({"keras_version": "3.9.0"})"},
             {"config.json",
              sequential({layer("TextVectorization", "text", {{"output_mode", "int"}}),
                          layer("Embedding", "embedding", {{"input_dim", 3}, {"output_dim", 1}})})
                  .dump()},
             {"assets/layers/text_vectorization/vocabulary.txt", "\n[UNK]\ncat"},
             {"model.weights.h5", writer.bytes()}});
  const KerasModel model = load_keras(folder / "m.keras");
  CHECK(model.vocabulary() == std::vector<std::string>{"", "[UNK]", "cat"});
  CHECK(same(output_of(model, Tensor<float>({1, 2}, {2, 1})), Tensor<float>({1, 2, 1}, {7, 5})));
}

// Writes a .keras archive with the weights of a dense layer in this group.
fs::path write_archive(const fs::path& path, const json& config, const std::string& group) {
  Hdf5Writer writer(path);
  writer.tensor(group + "/vars/0", kernel);
  writer.tensor(group + "/vars/1", bias);
  write_zip(path, {{"metadata.json", R"({"keras_version": "3.9.0"})"},
                   {"config.json", config.dump()},
                   {"model.weights.h5", writer.bytes()}});
  return path;
}

TEST_CASE("archives with an older group of layers, frozen models and losses of logits") {
  const TemporaryFolder folder;
  json config = sequential({input("in", 2), dense("dense", 1)});
  const KerasModel model = load_keras(
      write_archive(folder / "old.keras", config, "_layer_checkpoint_dependencies/dense"));
  CHECK(same(output_of(model, x), y));

  config["compile_config"]["loss"] = {
      {"class_name", "BinaryCrossentropy"},
      {"config", {{"name", "binary_crossentropy"}, {"from_logits", false}}}};
  const fs::path path = folder / "m.keras";
  CHECK(load_keras(write_archive(path, config, "layers/dense")).training_loss() ==
        "binary_crossentropy");
  config["compile_config"]["loss"]["config"]["from_logits"] = true;
  CHECK(load_keras(write_archive(path, config, "layers/dense")).training_loss().empty());

  json frozen = sequential({input("in", 2), dense("dense", 1)});
  frozen["config"]["trainable"] = false;
  const KerasModel outer = load_keras(
      write_archive(path, sequential({input("in", 2), frozen}), "layers/sequential/layers/dense"));
  for (const auto& [name, parameter] : named_parameters(outer)) CHECK(!parameter->requires_grad());
}

TEST_CASE("a frozen layer stays frozen, and regularizers add a penalty") {
  const TemporaryFolder folder;
  const json regularizer = {{"class_name", "L2"}, {"config", {{"l2", 0.5}}}};
  const KerasModel model = load_keras(write_model(
      folder / "m.h5",
      sequential({input("in", 2),
                  layer("Dense", "dense", {{"units", 1}, {"kernel_regularizer", regularizer}}),
                  layer("Dense", "frozen", {{"units", 1}, {"trainable", false}})}),
      {dense_weights[0], {"frozen", {{"k", Tensor<float>({1, 1}, {3})}, {"b", bias}}}}));
  Tape<float> tape;
  const KerasResult<float> result = model.run({tape.constant(x)});
  REQUIRE(result.penalty);
  CHECK(result.penalty->value().data()[0] == 2.5f);  // 0.5 (2² + 1²)
  std::vector<std::string> trained;
  for (const auto& [name, parameter] : named_parameters(model))
    if (parameter->requires_grad()) trained.push_back(name);
  CHECK(trained == std::vector<std::string>{"dense.kernel", "dense.bias"});
}

TEST_CASE("batch normalization updates its averages while training") {
  const TemporaryFolder folder;
  const KerasModel model = load_keras(write_model(
      folder / "m.h5",
      sequential({input("in", 1), layer("BatchNormalization", "norm", {{"momentum", 0.75}})}),
      {{"norm",
        {{"gamma", Tensor<float>({1}, {1})},
         {"beta", Tensor<float>({1})},
         {"mean", Tensor<float>({1}, {4})},
         {"variance", Tensor<float>({1}, {8})}}}}));
  Tape<float> tape({.training = true});
  model(tape.constant(Tensor<float>({2, 1}, {1, 3})));  // mean 2, variance 1
  const auto buffers = named_buffers(model);
  REQUIRE(buffers.size() == 2);
  CHECK(buffers[0].buffer->data()[0] == 3.5f);   // 0.75 · 4 + 0.25 · 2
  CHECK(buffers[1].buffer->data()[0] == 6.25f);  // 0.75 · 8 + 0.25 · 1
}

TEST_CASE("masked steps keep the state of a recurrent layer, in front and behind") {
  const TemporaryFolder folder;
  // h' = x + h: the sum of the steps that count.
  const json rnn =
      layer("SimpleRNN", "rnn", {{"units", 1}, {"activation", "linear"}, {"use_bias", false}});
  const KerasModel model = load_keras(write_model(
      folder / "m.h5",
      sequential({layer("InputLayer", "in", {{"batch_input_shape", {nullptr, nullptr, 1}}}),
                  layer("Masking", "masking", {{"mask_value", 9.0}}), rnn}),
      {{"rnn", {{"k", Tensor<float>({1, 1}, {1})}, {"r", Tensor<float>({1, 1}, {10})}}}}));
  const Tensor<float> sequences({3, 3, 1}, {9, 1, 2, 1, 9, 2, 1, 2, 9});
  CHECK(same(output_of(model, sequences), Tensor<float>({3, 1}, {12, 12, 12})));
}

TEST_CASE("load_keras names what it does not support") {
  const TemporaryFolder folder;
  const fs::path path = folder / "m.h5";
  const auto refused = [&](const json& description) {
    write_model(path, sequential({input("in", 2), description, dense("dense", 1)}), dense_weights);
    const std::string message = message_of_loading(path),
                      start = str_cat('"', path.string(), "\": ");
    REQUIRE(message.starts_with(start));
    return message.substr(start.size());
  };
  CHECK(refused(layer("Lambda", "half", {})) ==
        "Sequential 'model': Lambda 'half': class_name: expected a layer of Keras that weft "
        "supports, "
        "got Lambda (2 of 3 layers can be read)");
  json custom = layer("Dense", "mine", {{"units", 1}});
  custom["registered_name"] = "package>Dense";
  CHECK(contains(refused(custom),
                 "Dense 'mine': class_name: expected a layer of Keras that weft "
                 "supports, got package>Dense"));
  CHECK(contains(refused(layer("Dense", "d", {{"units", 1}, {"kernel_constraint", "NonNeg"}})),
                 "Dense 'd': kernel_constraint: expected null, got 'NonNeg'"));
  CHECK(contains(refused(layer("Dense", "d", {{"units", 1}, {"surprise", 1}})),
                 "Dense 'd': surprise: expected a supported entry, got 1"));
  CHECK(contains(refused(layer("Dense", "d", {{"units", 0}})),
                 "Dense 'd': units: expected an integer between 1 and 2147483647, got 0"));
  CHECK(contains(refused(layer("Dense", "d", {{"units", "many"}})), "units: expected an integer"));
  CHECK(contains(refused(layer("Dense", "d", {{"units", 1}, {"activation", "glu"}})),
                 "activation: expected an activation function of Keras, got 'glu'"));
  CHECK(contains(refused(layer("Dense", "d", {{"units", 1}, {"dtype", "mixed_float16"}})),
                 "dtype: expected float32 or float64, got mixed_float16"));
  CHECK(contains(refused(layer("LSTM", "l", {{"units", 1}, {"kernel_regularizer", "orthogonal"}})),
                 "kernel_regularizer: expected L1, L2 or L1L2, got 'orthogonal'"));
  CHECK(contains(
      refused(layer("Bidirectional", "b",
                    {{"layer", layer("LSTM", "l", {{"units", 1}})}, {"merge_mode", "min"}})),
      "merge_mode: expected concat, sum, mul, ave or null, got min"));
}

TEST_CASE("load_keras refuses weights that do not match the layers") {
  const TemporaryFolder folder;
  const fs::path path = folder / "m.h5";
  const json config = sequential({input("in", 2), dense("dense", 1)});
  const auto refused = [&](const std::vector<std::pair<std::string, Weights>>& layers) {
    write_model(path, config, layers);
    return message_of_loading(path);
  };
  const std::string file = str_cat('"', path.string(), '"');
  CHECK(refused({}) == file + ": expected 2 weights of Dense 'dense', got 0");
  CHECK(refused({{"dense", {{"k", kernel}}}}) ==
        file + ": expected 2 weights of Dense 'dense', got 1");
  CHECK(refused({dense_weights[0], {"other", {{"k", kernel}}}}) ==
        file +
            ": expected weights of the model's layers only, got weights of another layer, other");
  CHECK(refused({{"dense", {{"k", Tensor<float>({2, 2})}, {"b", bias}}}}) ==
        file + " /model_weights/dense/k: expected shape [any, 1], got [2, 2]");
  CHECK(refused({{"dense", {{"k", kernel}, {"b", Tensor<float>({1}, {NAN})}}}}) ==
        file + " /model_weights/dense/b: expected finite numbers, got nan");
}

TEST_CASE("load_keras refuses connections that make no model") {
  const TemporaryFolder folder;
  const fs::path path = folder / "m.h5";
  const auto refused = [&](const json& config) {
    write_model(path, config, dense_weights);
    return message_of_loading(path);
  };
  CHECK(
      contains(refused(functional({{input("in", 2), {}}, {dense("dense", 1), {"dense"}}}, "dense")),
               "inbound_nodes: expected layers that form no cycle, got dense"));
  CHECK(contains(refused(functional({{input("in", 2), {}},
                                     {dense("dense", 1), {"b"}},
                                     {layer("Add", "b", {}), {"dense", "in"}}},
                                    "dense")),
                 "inbound_nodes: expected layers that form no cycle"));
  CHECK(contains(refused(functional({{input("in", 2), {}}, {dense("dense", 1), {"x"}}}, "dense")),
                 "inbound_nodes: expected the name of a layer of the model, got x"));
  CHECK(contains(refused(functional({{input("in", 2), {}}, {dense("in", 1), {"in"}}}, "in")),
                 "layers: expected different names, got in"));
  CHECK(contains(refused(functional({{input("in", 2), {}}, {dense("dense", 1), {"in"}}}, "none")),
                 "inbound_nodes: expected the name of a layer of the model, got none"));
  CHECK(contains(refused(sequential(json::array())),
                 "layers: expected a list of at least one layer"));
  CHECK(contains(refused(json::array()), "class_name"));
  json many = input("in", 2);
  for (int i = 0; i < 60; ++i) many = sequential(json::array({many}));
  CHECK(contains(refused(many), "levels"));
}

TEST_CASE("load_keras refuses files of other kinds") {
  const TemporaryFolder folder;
  const fs::path path = folder / "m.h5";
  const std::string file = str_cat('"', path.string(), '"');
  CHECK(contains(message_of_loading(path), "No such file"));
  write_bytes(path, "");
  CHECK(contains(message_of_loading(path), "HDF5"));
  write_model(path, sequential({input("in", 2), dense("dense", 1)}), dense_weights, "1.2.0");
  CHECK(message_of_loading(path) ==
        file + ": expected a model of Keras 2 or Keras 3, got keras_version 1.2.0");
  Hdf5Writer writer(path);
  writer.tensor("dense/kernel:0", kernel);
  writer.save();
  CHECK(message_of_loading(path) ==
        file +
            ": expected a whole model of Keras, saved with model.save(\"model.h5\"), got a file "
            "without the attribute model_config");
  write_zip(path, {{"data.pkl", "torch"}});
  CHECK(message_of_loading(path) ==
        file + ": expected a .keras archive with model.weights.h5, got none");
  write_zip(path, {{"model.weights.h5", "no HDF5"}});
  CHECK(contains(message_of_loading(path), "HDF5"));
}

TEST_CASE("read_zip refuses damaged and dangerous archives") {
  const TemporaryFolder folder;
  const fs::path path = folder / "m.keras";
  const std::string file = str_cat('"', path.string(), '"');
  const auto message = [&] { return message_of<FileError>([&] { read_zip(path); }); };
  for (const char* name : {"../up", "/etc/passwd", "a/../../b", "a\\b"}) {
    write_zip(path, {{name, "x"}});
    CHECK(message() == str_cat(file, ": expected members within the archive, got ", name));
  }
  write_zip(path, {{"a", std::string(1000, 'a')}});
  const std::string bytes = bytes_of(path);
  std::string wrong = bytes;
  wrong[500] = 'b';
  write_bytes(path, wrong);
  CHECK(message() == file + ": expected a complete ZIP archive, got damaged data in a");
  // The last record has 22 bytes.
  for (std::size_t size = 0; size + 22 < bytes.size(); size += 7) {
    INFO(size << " of " << bytes.size() << " bytes");
    write_bytes(path, bytes.substr(0, size));
    CHECK(message() == file + ": expected a complete ZIP archive, got damaged data");
  }
  // A member that claims to have 4 GB: the size stands in the directory at the end, 24 bytes after
  // its signature.
  std::string bomb = bytes;
  const std::size_t directory = bomb.find("PK\1\2");
  REQUIRE(directory != bomb.npos);
  bomb.replace(directory + 24, 4, "\xf0\xff\xff\xff");
  write_bytes(path, bomb);
  CHECK(message() == file + ": expected at most 16777216 bytes of contents, got more in a");
  std::string encrypted = bytes;
  encrypted[directory + 8] = 1;
  write_bytes(path, encrypted);
  CHECK(message() == file + ": expected members that are not encrypted, got a");
}

TEST_CASE("a stateful KerasModel is trained in one part, and its checkpoints can be loaded") {
  const TemporaryFolder folder;
  KerasModel model = load_keras(
      write_model(folder / "m.h5",
                  sequential({layer("InputLayer", "in", {{"batch_input_shape", {4, 3, 1}}}),
                              layer("SimpleRNN", "rnn", {{"units", 1}, {"stateful", true}})}),
                  {{"rnn",
                    {{"k", Tensor<float>({1, 1}, {1})},
                     {"r", Tensor<float>({1, 1}, {1})},
                     {"b", Tensor<float>({1})}}}}));
  CHECK(named_running_buffers(model).at(0).name == "rnn.state");
  CHECK(part_limits(0, model).most == 1);
  save_weights(folder / "weights.h5", model);
  CHECK(load_weights(folder / "weights.h5", model).loaded.size() == 4);
}

TEST_CASE("a KerasModel names the layer that refuses its input") {
  const TemporaryFolder folder;
  const KerasModel model = load_keras(write_model(
      folder / "m.h5",
      sequential(
          json::array({layer("Embedding", "embedding", {{"input_dim", 3}, {"output_dim", 1}})})),
      {{"embedding", {{"e", Tensor<float>({3, 1})}}}}));
  CHECK(message_of<ValueError>([&] {
          output_of(model, Tensor<float>({1, 2}, {0, 3}));
        }) ==
        "Sequential 'model': Embedding 'embedding': input: expected token ids between 0 and 2, got "
        "3");
  CHECK(contains(message_of<ValueError>([&] {
                   output_of(model, Tensor<float>({1, 1}, {0.5f}));
                 }),
                 "got 0.5"));
  Tape<float> tape;
  CHECK(message_of<ShapeError>([&] { model.run({}); }) ==
        "KerasModel: inputs: expected at least one tensor, got 0");
  const Var a = tape.constant(x);
  CHECK(message_of<ShapeError>([&] {
          model.run({a, a});
        }) == "Sequential 'model': inputs: expected 1 tensors, got 2");
  json two = functional({{input("in", 2), {}}, {dense("dense", 1), {"in"}}}, "dense");
  two["config"]["output_layers"].push_back({"in", 0, 0});
  const KerasModel with_two = load_keras(write_model(folder / "two.h5", two, dense_weights));
  CHECK(message_of<ShapeError>([&] { with_two(a); }) ==
        "KerasModel: expected a model with one output (otherwise call run), got 2 outputs");
}

}  // namespace
}  // namespace weft
