#include "weft/train/weights/checkpoint.hpp"

#include <algorithm>
#include <cstdint>
#include <variant>

#include "weft/autograd/error.hpp"
#include "weft/autograd/finite.hpp"
#include "weft/train/files/hdf5/hdf5_file.hpp"
#include "weft/version.hpp"
#include "train/files/internal/file_descriptor.hpp"
#include "train/weights/internal/dataset_names.hpp"
#include "train/weights/internal/differences.hpp"
#include "train/weights/internal/snapshot.hpp"
#include "train/weights/internal/visit_state.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

// The version of the format. Files with a different version are rejected.
constexpr std::int64_t format_version = 1;

// The attribute of the file with the type of the model.
constexpr const char* type_attribute = "model_type";

// The state of a tokenizer: its tokens as text.
template <class T>
struct TokenizerText : Stateful<T> {
  void state(State<T>& state) override {
    state.text("kind", text.kind);
    state.text("tokens", text.tokens);
    state.text("merges", text.merges);
  }
  Tokenizer::Text text;
};

// The state of a tokenizer that a program uses. Loading throws ValueError if the tokens in the
// checkpoint differ.
template <class T>
class TokenizerState final : public TokenizerText<T> {
 public:
  explicit TokenizerState(const Tokenizer& tokenizer) : expected_(tokenizer.to_text()) {
    this->text = expected_;
  }
  void check_state() const override {
    if (this->text != expected_)
      fail<ValueError>("tokenizer", "the tokens of the checkpoint", "different tokens");
  }

 private:
  Tokenizer::Text expected_;
};

template <class Value>
const char* type_of() {
  if (std::is_same_v<Value, std::string>) return "string";
  if (std::is_same_v<Value, std::int64_t> || std::is_same_v<Value, bool>) return "int64";
  if (std::is_same_v<Value, Tensor<std::int32_t>>) return "int32";
  return std::is_same_v<Value, Tensor<float>> ? "float32" : "float64";
}

// The state of an object read from a file. It is kept separately until everything has been checked.
template <class T>
class StagedState {
 public:
  // Reads all values that `object` registers from `datasets`, which are the datasets of a group.
  // The object does not change. Throws FileError, listing all differences, if names, shapes or
  // types differ, and NonFiniteError for a NaN or an infinity in a tensor.
  StagedState(const Hdf5File& file, const std::string& group, PathsByName datasets,
              Stateful<T>& object)
      : location_(quoted(file.path()) + ' ' + group), object_(object) {
    Differences differences;
    visit_state(object, [&]<class Value>(const std::string& name, const Value& value) {
      constexpr bool is_tensor = std::is_same_v<Value, Tensor<T>>;
      constexpr bool is_list = std::is_same_v<Value, Tensor<std::int32_t>>;
      values_.emplace_back(Value());
      Shape shape;
      if constexpr (is_tensor || is_list) shape = value.shape();
      const auto entry = datasets.extract(name);
      if (entry.empty()) {
        if constexpr (is_list)
          values_.back() = Value(shape);
        else if (object.is_new_since_0_2(name))
          values_.back() = value;
        else
          differences.missing.push_back(str_cat(name, ' ', shape));
        return;
      }
      const StoredDataset dataset = file.dataset(entry.mapped());
      const std::string type = dataset.type();
      const Shape found = dataset.shape();
      if constexpr (std::is_same_v<Value, double>)
        // weft 0.2 stored progress/label_sum as an integer.
        if (type == type_of<std::int64_t>() && found == shape) {
          values_.back() = static_cast<double>(dataset.value<std::int64_t>());
          return;
        }
      differences.check_type(name, type_of<Value>(), type);
      differences.check_shape(name, shape, found);
      if (type != type_of<Value>() || found != shape) return;
      if constexpr (is_list) {
        values_.back() = dataset.tensor<std::int32_t>(shape);
      } else if constexpr (is_tensor) {
        values_.back() = dataset.tensor<T>(shape);
        check_finite(dataset.location(), std::get<Value>(values_.back()));
      } else if constexpr (std::is_same_v<Value, bool>) {
        const auto number = dataset.value<std::int64_t>();
        if (number != 0 && number != 1) fail<FileError>(dataset.location(), "0 or 1", number);
        values_.back() = number == 1;
      } else {
        values_.back() = dataset.value<Value>();
      }
    });
    for (const auto& [name, path] : datasets)
      if (!object.was_only_in_0_2(name)) differences.unexpected.push_back(name);
    if (!differences.empty())
      throw FileError(str_cat(
          location_,
          ": expected the names, shapes and types of the object to load, got different contents",
          differences));
  }

  // Swaps the values read from the file with those of the object; a second call restores the
  // object. Throws ValueError if the object does not register the same values as before; values
  // registered before the error remain swapped.
  void exchange() {
    auto next = values_.begin();
    visit_state(object_, [&]<class Value>(const std::string& name, Value& value) {
      Value* const read = next == values_.end() ? nullptr : std::get_if<Value>(&*next++);
      if (!read)
        fail<ValueError>(str_cat("state: ", name),
                         "the same values on each call, in the same order", "a different value");
      if constexpr (requires { value.shape(); })
        if (value.shape() != read->shape())
          fail<ValueError>(str_cat("state: tensor ", name), read->shape(), value.shape());
      std::swap(value, *read);
    });
    if (next != values_.end())
      fail<ValueError>("state", "the same values on each call", "fewer values");
  }

  // Undoes `exchange`, even if it stopped with an exception.
  void restore() {
    try {
      exchange();
    } catch (...) {
      // The first exchange stopped at the same value.
    }
  }

  // Calls the object's `check_state`. Adds the file and the group to the message of a ValueError.
  void check() const {
    try {
      object_.check_state();
    } catch (const ValueError& error) {
      throw ValueError(str_cat(location_, ": ", error.what()));
    }
  }

 private:
  std::string location_;
  Stateful<T>& object_;
  // In the order in which the object registers them.
  std::vector<
      std::variant<Tensor<T>, std::int64_t, bool, double, std::string, Tensor<std::int32_t>>>
      values_;
};

// Throws ValueError if the group of a state contains another state's group, the model or its
// options, or is inside one of them.
template <class T>
void check_apart(const NamedStates<T>& states) {
  std::vector<std::string> groups{"model", options_group};
  for (const NamedState<T>& state : states) groups.push_back(state.name);
  for (auto inner = groups.begin(); inner != groups.end(); ++inner)
    for (auto outer = groups.begin(); outer != groups.end(); ++outer)
      if (inner != outer && (*inner + '.').starts_with(*outer + '.'))
        fail<ValueError>("checkpoint: state '" + *inner + '\'', "a group outside all other groups",
                         "a group in '" + *outer + '\'');
}

// Adds a value to a group: a tensor, a list, a number or a string.
template <class Value>
void add(Hdf5Writer& writer, const std::string& group, const std::string& name,
         const Value& value) {
  const std::string path = path_of_name(group + '.' + name);
  if constexpr (std::is_same_v<Value, Tensor<std::int32_t>>) {
    if (std::ranges::any_of(value, [](std::int32_t number) { return number != 0; }))
      writer.tensor(path, value);
  } else if constexpr (requires { value.shape(); }) {
    check_finite(path, value);
    writer.tensor(path, value);
  } else if constexpr (std::is_same_v<Value, bool>) {
    writer.value(path, std::int64_t{value});
  } else {
    writer.value(path, value);
  }
}

Hdf5File open_checkpoint(const fs::path& path) {
  Hdf5File file = Hdf5File::open_verified(path);
  if (!file.has_attribute("/", "format_version"))
    fail_on_file(path, "a checkpoint", "a file without format_version");
  if (const auto version = file.attribute<std::int64_t>("/", "format_version");
      version != format_version)
    fail_on_file(path, str_cat("a checkpoint of format ", format_version),
                 str_cat("format ", version, ", written by weft ",
                         file.attribute<std::string>("/", "weft_version")));
  return file;
}

// Loads all objects or none. If `averaged`, a model's parameters are set to their averages if the
// file contains them.
template <class T>
void load(const Hdf5File& file, const NamedStates<T>& states, bool averaged = false) {
  std::vector<StagedState<T>> staged;
  for (const auto& [name, object, is_optional] : states) {
    const std::string group = path_of_name(name);
    if (is_optional && !file.has_group(group)) continue;
    PathsByName datasets = datasets_by_name(file, group);
    if (averaged) (void)use_average(file, "", datasets);
    staged.emplace_back(file, group, std::move(datasets), *object);
  }
  std::size_t begun = 0;  // the number of states whose exchange has begun
  try {
    for (StagedState<T>& state : staged) {
      ++begun;
      state.exchange();
    }
    for (const StagedState<T>& state : staged) state.check();
  } catch (...) {
    // In reverse order, because two objects may register the same variable.
    while (begun > 0) staged[--begun].restore();
    throw;
  }
}

OptionValue read_option(const StoredDataset& dataset) {
  const std::string type = dataset.type();
  if (type == type_of<std::int64_t>()) return dataset.value<std::int64_t>();
  if (type == type_of<double>()) return dataset.value<double>();
  if (type == type_of<std::string>()) return dataset.value<std::string>();
  fail<FileError>(dataset.location(), "an option of type int64, float64 or string", type);
}

}  // namespace

template <class T>
NamedState<T>::NamedState(std::string group, const Tokenizer& tokenizer)
    : name(std::move(group)),
      object(std::make_shared<TokenizerState<T>>(tokenizer)),
      is_optional(true) {}

template <class T>
Hdf5Writer prepare_checkpoint(const fs::path& path, const Module<T>& model,
                              const std::type_identity_t<NamedStates<T>>& states) {
  Hdf5Writer writer(path);
  writer.attribute("format_version", format_version);
  writer.attribute("weft_version", std::string(WEFT_VERSION));
  check_apart(states);
  if (const auto description = model.description()) {
    writer.attribute(type_attribute, description->type);
    for (const auto& [name, option] : description->options)
      std::visit([&, option_name = name](
                     const auto& value) { add(writer, options_group, option_name, value); },
                 option);
  }
  for (const auto& [name, parameter] : named_parameters(model))
    add(writer, "model", name, parameter->value());
  for (const auto& [name, buffer] : named_buffers(model)) add(writer, "model", name, *buffer);
  for (const auto& state : states)
    visit_state(*state.object, [&](const std::string& name, const auto& value) {
      add(writer, state.name, name, value);
    });
  return writer;
}

template <class T>
void save_checkpoint(const fs::path& path, const Module<T>& model,
                     const std::type_identity_t<NamedStates<T>>& states) {
  prepare_checkpoint(path, model, states).save();
}

template <class T>
void load_checkpoint(const fs::path& path, Module<T>& model,
                     const std::type_identity_t<NamedStates<T>>& states) {
  check_apart(states);
  const Hdf5File file = open_checkpoint(path);
  ModelState<T> model_state(model);
  NamedStates<T> all{{"model", model_state}};
  all.insert(all.end(), states.begin(), states.end());
  load(file, all, states.empty());
}

template <class T>
void load_state(const fs::path& path, const std::string& name, Stateful<T>& object) {
  load(open_checkpoint(path), NamedStates<T>{{name, object}});
}

ModelDescription load_model_description(const fs::path& path) {
  const Hdf5File file = open_checkpoint(path);
  if (!file.has_attribute("/", type_attribute))
    fail_on_file(path, "a checkpoint with the options of its model",
                 str_cat("a checkpoint without options, written by weft ",
                         file.attribute<std::string>("/", "weft_version")));
  ModelDescription description{file.attribute<std::string>("/", type_attribute), {}};
  if (!file.has_group(options_group)) return description;
  for (const auto& [name, dataset] : datasets_by_name(file, options_group))
    description.options.emplace(name, read_option(file.dataset(dataset)));
  return description;
}

Tokenizer load_tokenizer(const fs::path& path, const std::string& name) {
  const Hdf5File file = open_checkpoint(path);
  if (!file.has_group(path_of_name(name))) return {};
  TokenizerText<float> read;
  load(file, NamedStates<float>{{name, read}});
  try {
    return Tokenizer::from_text(read.text);
  } catch (const Error& error) {
    throw FileError(str_cat(quoted(path), ' ', path_of_name(name), ": ", error.what()));
  }
}

template struct NamedState<float>;
template struct NamedState<double>;
template Hdf5Writer prepare_checkpoint(const fs::path&, const Module<float>&,
                                       const NamedStates<float>&);
template Hdf5Writer prepare_checkpoint(const fs::path&, const Module<double>&,
                                       const NamedStates<double>&);
template void save_checkpoint(const fs::path&, const Module<float>&, const NamedStates<float>&);
template void save_checkpoint(const fs::path&, const Module<double>&, const NamedStates<double>&);
template void load_checkpoint(const fs::path&, Module<float>&, const NamedStates<float>&);
template void load_checkpoint(const fs::path&, Module<double>&, const NamedStates<double>&);
template void load_state(const fs::path&, const std::string&, Stateful<float>&);
template void load_state(const fs::path&, const std::string&, Stateful<double>&);

}  // namespace weft
