#include "weft/train/pretrained/keras/keras_files.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/files/hdf5/hdf5_file.hpp"
#include "weft/train/files/hdf5/hdf5_writer.hpp"
#include "weft/train/files/utf8.hpp"
#include "train/files/internal/file_descriptor.hpp"
#include "train/files/internal/json.hpp"
#include "train/files/internal/json_entries.hpp"
#include "train/files/internal/random_access_file.hpp"
#include "train/pretrained/keras/internal/keras_config.hpp"
#include "train/pretrained/keras/internal/keras_storage.hpp"
#include "train/weights/internal/keras_names.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

// A weight of a model and its place in a file.
template <class T>
struct Slot {
  const std::vector<Index>* sizes;
  bool trainable;
  Parameter<T>* parameter = nullptr;
  Tensor<T>* buffer = nullptr;
  std::string dataset = {};

  // A group of weights, which may be empty.
  bool is_group() const { return !parameter && !buffer; }
  const Tensor<T>& value() const { return parameter ? parameter->value() : *buffer; }
};

// --- HDF5 files of whole models ----------------------------------------------------------------

// Add the weights of a layer in the order of Keras's trainable_weights and non_trainable_weights.
template <class T>
void add_trainable(KerasLayer<T>& layer, std::vector<Slot<T>>& slots) {
  if (!layer.trainable) return;
  for (auto& weight : layer.parameters) slots.push_back({&weight.sizes, true, &weight.value});
  for (auto& child : layer.children) add_trainable(child, slots);
}
template <class T>
void add_other(KerasLayer<T>& layer, bool is_trainable, std::vector<Slot<T>>& slots) {
  is_trainable = is_trainable && layer.trainable;
  if (!is_trainable)
    for (auto& weight : layer.parameters) slots.push_back({&weight.sizes, false, &weight.value});
  for (auto& weight : layer.buffers)
    slots.push_back({&weight.sizes, false, nullptr, &weight.value});
  for (auto& child : layer.children) add_other(child, is_trainable, slots);
}

// Returns the weights of a whole model and the names that a file has for them.
template <class T>
std::vector<Slot<T>> hdf5_slots(KerasLayer<T>& root, const KerasStorage& storage,
                                const std::string& group, const fs::path& path) {
  std::map<std::string, const std::vector<std::string>*> stored;
  for (const auto& [layer, names] : storage.layers) stored.emplace(layer, &names);
  std::vector<Slot<T>> all;
  for (KerasLayer<T>& layer : root.children) {
    std::vector<Slot<T>> slots;
    add_trainable(layer, slots);
    add_other(layer, true, slots);
    const auto found = stored.find(layer.name);
    const std::size_t count = found == stored.end() ? 0 : found->second->size();
    if (count != slots.size())
      fail_on_file(path,
                   str_cat(slots.size(), slots.size() == 1 ? " weight" : " weights", " of ",
                           layer.class_name, " '", layer.name, "'"),
                   str_cat(count));
    for (std::size_t i = 0; i < count; ++i) {
      slots[i].dataset = str_cat(group, "/", layer.name, "/", (*found->second)[i]);
      all.push_back(std::move(slots[i]));
    }
    if (found != stored.end()) stored.erase(found);
  }
  for (const auto& [name, names] : stored)
    if (!names->empty())
      fail_on_file(path, "weights of the model's layers only", "weights of another layer, " + name);
  return all;
}

// --- .keras archives and .weights.h5 -----------------------------------------------------------

// Returns Keras's name of a class in paths: "simple_rnn" for SimpleRNN, "p_re_lu" for PReLU.
std::string snake_case(const std::string& name) {
  const auto is_upper = [&](std::size_t i) { return name[i] >= 'A' && name[i] <= 'Z'; };
  const auto is_lower = [&](std::size_t i) {
    return i < name.size() && name[i] >= 'a' && name[i] <= 'z';
  };
  std::string result;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (i > 0 && is_upper(i) && (is_lower(i + 1) || is_lower(i - 1))) result += '_';
    result += static_cast<char>(is_upper(i) ? name[i] - 'A' + 'a' : name[i]);
  }
  return result;
}

bool is_model(const std::string& class_name) {
  return class_name == "Sequential" || class_name == "Functional" || class_name == "Model";
}

// Adds the weights of a layer at a path. `group_of` returns the group of a member.
template <class T, class GroupOf>
void add_slots(KerasLayer<T>& layer, bool is_trainable, const std::string& path,
               const GroupOf& group_of, std::vector<Slot<T>>& slots) {
  is_trainable = is_trainable && layer.trainable;
  slots.push_back({nullptr, false, nullptr, nullptr, path + "/vars"});
  std::size_t number = 0;
  const auto next = [&] { return str_cat(path, "/vars/", number++); };
  for (auto& weight : layer.parameters)
    slots.push_back({&weight.sizes, is_trainable, &weight.value, nullptr, next()});
  for (auto& weight : layer.buffers)
    slots.push_back({&weight.sizes, false, nullptr, &weight.value, next()});
  std::map<std::string, int> uses;
  for (KerasLayer<T>& child : layer.children) {
    if (!is_model(layer.class_name)) {
      add_slots(child, is_trainable, group_of(path, child.name), group_of, slots);
      continue;
    }
    // Operations, such as NotEqual, are not layers.
    const std::string name = snake_case(child.class_name);
    const int use = uses[name]++;
    add_slots(child, is_trainable,
              str_cat(group_of(path, "layers"), "/", name, use == 0 ? "" : str_cat("_", use)),
              group_of, slots);
  }
}

template <class T>
std::vector<Slot<T>> archive_slots(KerasLayer<T>& root, KerasVersion version) {
  std::vector<Slot<T>> slots;
  const bool hidden = version < KerasVersion{3, 3};
  add_slots(
      root, true, "",
      [hidden](const std::string& path, const std::string& member) {
        return str_cat(path, hidden && member.ends_with("_dense") ? "/_" : "/", member);
      },
      slots);
  return slots;
}

template <class T>
std::vector<Slot<T>> archive_slots(KerasLayer<T>& root, const Hdf5File& file) {
  std::vector<Slot<T>> slots;
  add_slots(
      root, true, "",
      [&file](const std::string& path, const std::string& member) {
        const std::string hidden = path + "/_" + member;
        // The name in some versions of Keras 2.
        const std::string dependencies = path + "/_layer_checkpoint_dependencies";
        return file.has_group(hidden)                               ? hidden
               : member == "layers" && file.has_group(dependencies) ? dependencies
                                                                    : path + "/" + member;
      },
      slots);
  return slots;
}

// -----------------------------------------------------------------------------------------------

template <class T>
void load_slot(const StoredDataset& dataset, const Slot<T>& slot) {
  const Shape shape = dataset.shape();
  const bool is_any = *slot.sizes == std::vector{any_rank};
  bool fits = is_any || std::ssize(*slot.sizes) == shape.rank();
  for (std::size_t i = 0; fits && !is_any && i < slot.sizes->size(); ++i)
    fits = (*slot.sizes)[i] < 0 || (*slot.sizes)[i] == shape[static_cast<Index>(i)];
  if (!fits) {
    std::string expected;
    for (Index size : *slot.sizes)
      expected += (expected.empty() ? "" : ", ") + (size < 0 ? "any" : str_cat(size));
    fail<FileError>(dataset.location(), str_cat("shape [", expected, "]"), shape);
  }
  Tensor<T> value = dataset.tensor<T>();
  for (T number : std::as_const(value).values())
    if (!(number - number == 0)) fail<FileError>(dataset.location(), "finite numbers", number);
  if (slot.buffer) {
    *slot.buffer = std::move(value);
  } else {
    *slot.parameter = Parameter<T>(std::move(value));
    slot.parameter->set_requires_grad(slot.trainable);
  }
}

template <class T>
void load_slots(const Hdf5File& file, const std::vector<Slot<T>>& slots) {
  for (const Slot<T>& slot : slots)
    if (!slot.is_group()) load_slot(file.dataset(slot.dataset), slot);
}

template <class T>
void save_slots(Hdf5Writer& writer, const std::vector<Slot<T>>& slots) {
  // Some versions of Keras expect a group of weights also of layers without weights of their own.
  for (const Slot<T>& slot : slots)
    if (slot.is_group()) writer.group(slot.dataset);
  for (const Slot<T>& slot : slots)
    if (!slot.is_group()) writer.tensor(slot.dataset, slot.value());
}

const std::string& required_member(const ZipMembers& members, const std::string& name,
                                   const fs::path& path) {
  const auto found = members.find(name);
  if (found == members.end()) fail_on_file(path, "a .keras archive with " + name, "none");
  return found->second;
}

// Returns the version of Keras that wrote a file.
KerasVersion version_of(const KerasStorage& storage, const fs::path& path) {
  std::string version;
  if (storage.is_archive)
    version = entry_or<std::string>(
        parse_json(required_member(storage.texts, "metadata.json", path), path), "keras_version",
        "");
  else if (const auto found = storage.texts.find("keras_version"); found != storage.texts.end())
    version = found->second;
  // The first files of Keras 1 have no version.
  if (!version.starts_with("2.") && !version.starts_with("3."))
    fail_on_file(path, "a model of Keras 2 or Keras 3",
                 version.empty() ? "no keras_version" : "keras_version " + version);
  const std::size_t dot = version.find('.', 2);
  int minor_number = 0;
  std::from_chars(version.data() + 2, version.data() + std::min(dot, version.size()), minor_number);
  return {version[0] - '0', minor_number};
}

KerasStorage read_storage(const Hdf5File& file) {
  KerasStorage storage;
  if (!file.has_attribute("/", "model_config"))
    fail_on_file(file.path(), "a whole model of Keras, saved with model.save(\"model.h5\")",
                 "a file without the attribute model_config");
  for (const char* name : {"model_config", "keras_version", "backend", "training_config"})
    if (file.has_attribute("/", name)) storage.texts[name] = file.attribute<std::string>("/", name);
  storage.layers = keras_layer_names(file, keras_weights_group);
  return storage;
}

// Reads the architecture written by model.to_json() in Keras 2.
KerasStorage read_architecture(const fs::path& path) {
  const nlohmann::json file = parse_json(read_text(path), path);
  KerasStorage storage;
  for (const char* name : {"keras_version", "backend"})
    if (const auto text = entry_or<std::string>(file, name, ""); !text.empty())
      storage.texts[name] = text;
  if (version_of(storage, path).major_number != 2)
    fail_on_file(path, "the JSON of a model of Keras 2; Keras 3 saves whole models in .keras files",
                 "keras_version " + storage.texts["keras_version"]);
  storage.texts["model_config"] = nlohmann::json{
      {"class_name", entry(file, "class_name")},
      {"config",
       entry(file, "config")}}.dump();
  return storage;
}

// Removes the weights from `storage`, and returns them.
Hdf5File take_weights(KerasStorage& storage, const fs::path& path) {
  const std::string name = "model.weights.h5";
  std::string bytes = required_member(storage.texts, name, path);
  storage.texts.erase(name);
  return Hdf5File::from_bytes(path / name, std::move(bytes));
}

bool is_archive(const fs::path& path) {
  std::string first(4, '\0');
  return RandomAccessFile(path).read(0, std::as_writable_bytes(std::span(first))) &&
         first == "PK\3\4";
}

template <class T>
KerasModelState<T> new_state(KerasStorage storage, const fs::path& path) {
  const nlohmann::json config =
      parse_json(storage.is_archive ? required_member(storage.texts, "config.json", path)
                                    : storage.texts.at("model_config"),
                 path);
  KerasLayer<T> root = make_keras_layer<T>(config, version_of(storage, path));
  if (!is_model(root.class_name))
    fail<ValueError>("configuration", "a Sequential or functional model", root.class_name);
  return {std::move(root), std::move(storage)};
}

template <class T>
KerasModelState<T> load_state(const fs::path& path) {
  if (is_archive(path)) {
    KerasStorage storage{.is_archive = true, .texts = read_zip(path)};
    const Hdf5File file = take_weights(storage, path);
    KerasModelState<T> state = new_state<T>(std::move(storage), path);
    load_slots(file, archive_slots(state.root, file));
    return state;
  }
  const Hdf5File file(path);
  KerasModelState<T> state = new_state<T>(read_storage(file), path);
  load_slots(file, hdf5_slots(state.root, state.storage, keras_weights_group, path));
  return state;
}

template <class T>
KerasModelState<T> load_state(const fs::path& architecture, const fs::path& weights) {
  KerasModelState<T> state = new_state<T>(read_architecture(architecture), architecture);
  const Hdf5File file(weights);
  const std::string group = file.has_attribute("/", "layer_names") ? "" : keras_weights_group;
  state.storage.layers = keras_layer_names(file, group);
  load_slots(file, hdf5_slots(state.root, state.storage, group, weights));
  return state;
}

// Calls `load`, whose errors then name the file.
template <class Load>
auto named_errors(const fs::path& path, const Load& load) {
  try {
    return load();
  } catch (const ValueError& error) {
    throw FileError(str_cat(quoted(path), ": ", error.what()));
  } catch (const ShapeError& error) {
    throw FileError(str_cat(quoted(path), ": ", error.what()));
  }
}

}  // namespace

template <class T>
KerasModel<T> load_keras(const fs::path& path) {
  return named_errors(path, [&] { return KerasModel<T>(load_state<T>(path)); });
}

template <class T>
KerasModel<T> load_keras(const fs::path& architecture, const fs::path& weights) {
  return named_errors(architecture,
                      [&] { return KerasModel<T>(load_state<T>(architecture, weights)); });
}

template <class T>
void save_keras(const fs::path& path, const KerasModel<T>& model) {
  KerasModelState<T>& state = KerasModelState<T>::of(model);
  const KerasStorage& storage = state.storage;
  const std::string name = path.filename().string();
  const bool is_weights = name.ends_with(".weights.h5");
  const bool fits =
      is_weights || (storage.is_archive ? name.ends_with(".keras")
                                        : name.ends_with(".h5") || name.ends_with(".hdf5"));
  if (!fits)
    fail<ValueError>("save_keras: path",
                     storage.is_archive ? "a name that ends with .keras or .weights.h5"
                                        : "a name that ends with .h5, .hdf5 or .weights.h5",
                     quoted(path));
  const KerasVersion version = version_of(storage, path);
  Hdf5Writer writer(path);
  if (is_weights || storage.is_archive) {
    save_slots(writer, archive_slots(state.root, version));
    if (is_weights) return writer.save();
    ZipMembers members = storage.texts;
    members["model.weights.h5"] = writer.bytes();
    return write_zip(path, members);
  }
  for (const auto& [attribute, text] : storage.texts) writer.attribute(attribute, text);
  writer.group(keras_weights_group);
  std::vector<std::string> layers;
  for (const auto& [layer, names] : storage.layers) layers.push_back(layer);
  writer.attribute(keras_weights_group, "layer_names", layers);
  for (const char* text : {"keras_version", "backend"})
    if (const auto found = storage.texts.find(text); found != storage.texts.end())
      writer.attribute(keras_weights_group, text, found->second);
  save_slots(writer, hdf5_slots(state.root, storage, keras_weights_group, path));
  for (const auto& [layer, names] : storage.layers) {
    const std::string group = str_cat(keras_weights_group, "/", layer);
    if (names.empty()) writer.group(group);
    writer.attribute(group, "weight_names", names);
  }
  writer.save();
}

template KerasModel<float> load_keras(const fs::path&);
template KerasModel<double> load_keras(const fs::path&);
template KerasModel<float> load_keras(const fs::path&, const fs::path&);
template KerasModel<double> load_keras(const fs::path&, const fs::path&);
template void save_keras(const fs::path&, const KerasModel<float>&);
template void save_keras(const fs::path&, const KerasModel<double>&);

}  // namespace weft
