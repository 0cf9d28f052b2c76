#include "train/weights/internal/keras_names.hpp"

#include "weft/autograd/error.hpp"
#include "train/files/internal/file_descriptor.hpp"

namespace weft {
namespace {

// Reads a list of names, which Keras divides if it is long: "weight_names", or "weight_names0", ….
std::vector<std::string> read_names(const Hdf5File& file, const std::string& group,
                                    const std::string& name) {
  if (file.has_attribute(group, name)) return file.attribute<std::vector<std::string>>(group, name);
  std::vector<std::string> names;
  for (int i = 0; file.has_attribute(group, str_cat(name, i)); ++i)
    for (std::string& part : file.attribute<std::vector<std::string>>(group, str_cat(name, i)))
      names.push_back(std::move(part));
  if (names.empty())
    fail_on_file(file.path(), str_cat("an attribute ", name, " of ", group), "none");
  return names;
}

}  // namespace

KerasLayerNames keras_layer_names(const Hdf5File& file, const std::string& group) {
  KerasLayerNames layers;
  for (std::string& layer : read_names(file, group.empty() ? "/" : group, "layer_names")) {
    std::vector<std::string> names = read_names(file, str_cat(group, "/", layer), "weight_names");
    layers.emplace_back(std::move(layer), std::move(names));
  }
  return layers;
}

std::string in_keras_3_cell(const std::string& dataset, const PathsByName& paths) {
  const std::size_t dot = dataset.rfind('.');
  if (dot == dataset.npos) return dataset;
  std::string layer = dataset.substr(0, dot), variable = dataset.substr(dot + 1), end = ":0";
  if (variable.ends_with(end))
    variable.resize(variable.size() - end.size());
  else
    end.clear();
  const char* vars = variable == "kernel"             ? ".cell.vars.0"
                     : variable == "recurrent_kernel" ? ".cell.vars.1"
                     : variable == "bias"             ? ".cell.vars.2"
                                                      : nullptr;
  if (!vars || !paths.contains(str_cat(layer, ".recurrent_kernel", end))) return dataset;
  // Before Keras 2.3, a cell has no name.
  const auto last_dot = [&] { return layer.rfind('.') == layer.npos ? 0 : layer.rfind('.'); };
  if (layer.find("_cell", last_dot()) != layer.npos) layer.resize(last_dot());
  // A Bidirectional contains two layers.
  const std::string name = layer.substr(last_dot()), outer = layer.substr(0, last_dot());
  for (const auto& [direction, other] :
       {std::pair(".forward_", ".backward_"), {".backward_", ".forward_"}}) {
    const auto found = paths.lower_bound(outer + other);
    if (name.starts_with(direction) && found != paths.end() &&
        found->first.starts_with(outer + other))
      layer = str_cat(outer, direction, "layer");
  }
  return layer + vars;
}

}  // namespace weft
