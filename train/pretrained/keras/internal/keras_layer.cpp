#include "train/pretrained/keras/internal/keras_layer.hpp"

#include <algorithm>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/autograd/ops/reductions.hpp"
#include "train/files/internal/json_entries.hpp"
#include "train/pretrained/keras/internal/keras_activations.hpp"
#include "train/pretrained/keras/internal/keras_attention_layers.hpp"
#include "train/pretrained/keras/internal/keras_config.hpp"
#include "train/pretrained/keras/internal/keras_convolution_layers.hpp"
#include "train/pretrained/keras/internal/keras_core_layers.hpp"
#include "train/pretrained/keras/internal/keras_merging_layers.hpp"
#include "train/pretrained/keras/internal/keras_models.hpp"
#include "train/pretrained/keras/internal/keras_recurrent_layers.hpp"

namespace weft {
namespace {

using nlohmann::json;

// Calls `function`. Adds the name of the layer to errors.
template <class Function>
auto in_layer(const std::string& class_name, const std::string& name, const Function& function) {
  const auto message = [&](const Error& error) {
    return str_cat(class_name, " '", name, "': ", error.what());
  };
  try {
    return function();
  } catch (const ShapeError& error) {
    throw ShapeError(message(error));
  } catch (const ValueError& error) {
    throw ValueError(message(error));
  }
}

// Reads a regularizer: null, a name such as "l2", or an object.
// Formula: l1 · Σ |w| + l2 · Σ w².
template <class T>
typename KerasLayer<T>::Regularizer read_regularizer(KerasConfig& config, const std::string& name) {
  const json& value = config.at(name);
  if (value.is_null()) return {};
  const std::string kind =
      value.is_string() ? value.get<std::string>() : entry_or<std::string>(value, "class_name", "");
  const json& options = entry(value, "config");
  const bool is_l1 = kind == "L1" || kind == "l1", is_l2 = kind == "L2" || kind == "l2";
  const bool is_both = kind == "L1L2" || kind == "l1_l2";
  if (!is_l1 && !is_l2 && !is_both) fail<ValueError>(name, "L1, L2 or L1L2", shown(value));
  // A name without options stands for 0.01.
  const double otherwise = value.is_string() ? 0.01 : 0.0;
  const double l1 = is_l2 ? 0 : entry_or(options, "l1", otherwise);
  const double l2 = is_l1 ? 0 : entry_or(options, "l2", otherwise);
  return [l1, l2](const Var<T>& w) {
    const Var<T> squares = scale(sum(w * w), l2);
    return l1 == 0 ? squares : squares + scale(sum(abs(w)), l1);
  };
}

// Returns the sizes of an input without the batch, -1 for any size. Keras 2 also stores them in the
// first layer of a Sequential.
std::vector<Index> input_sizes(KerasConfig& config) {
  const json& shape =
      config.has("batch_shape") ? config.at("batch_shape") : config.at("batch_input_shape");
  std::vector<Index> sizes;
  for (std::size_t i = 1; shape.is_array() && i < shape.size(); ++i) {
    if (!shape[i].is_null() && !shape[i].is_number_unsigned())
      fail<ValueError>("batch_shape", "sizes", shown(shape));
    sizes.push_back(shape[i].is_null() ? -1 : shape[i].get<Index>());
  }
  return sizes;
}

// Returns the most important options of a layer as text: "units=8, activation=relu".
std::string printed_options(const json& entries) {
  std::string text;
  for (const char* name :
       {"input_dim",    "units",      "output_dim", "filters",      "kernel_size",
        "pool_size",    "strides",    "padding",    "num_heads",    "key_dim",
        "rate",         "activation", "axis",       "merge_mode",   "return_sequences",
        "go_backwards", "stateful",   "mask_zero",  "target_shape", "n"}) {
    const json& value = entry(entries, name);
    if (value.is_null() || value.is_object() || value == false || value == "linear") continue;
    text += (text.empty() ? "" : ", ") + str_cat(name, "=") +
            (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

// Returns the type of a layer's computations, "float32" by default. Keras 3 may store an object.
std::string dtype_of(const json& dtype) {
  if (dtype.is_string()) return dtype.get<std::string>();
  return entry_or<std::string>(entry(dtype, "config"), "name", "float32");
}

}  // namespace

template <class T>
std::size_t KerasLayer<T>::add_parameter(KerasConfig& config, const std::string& parameter,
                                         std::vector<Index> sizes, std::string entries) {
  if (entries.empty()) entries = parameter;
  config.require(entries + "_constraint", nullptr);
  if (auto regularizer = read_regularizer<T>(config, entries + "_regularizer"))
    regularizers.emplace_back(parameters.size(), std::move(regularizer));
  parameters.push_back({parameter, std::move(sizes)});
  return parameters.size() - 1;
}

template <class T>
typename KerasLayer<T>::Values KerasLayer<T>::operator()(KerasCall<T>& call) const {
  return in_layer(class_name, name, [&] {
    Values outputs = compute(*this, call);
    if (call.penalty && activity_regularizer) {
      for (const KerasValue<T>& output : outputs) {
        const Var<T> penalty = activity_regularizer(output.tensor);
        *call.penalty = *call.penalty ? **call.penalty + penalty : penalty;
      }
    }
    return outputs;
  });
}

template <class T>
void KerasLayer<T>::members(Members<T>& members) const {
  members.type(class_name, arguments);
  for (const auto& [weight_name, sizes, value] : parameters) members(weight_name, value);
  for (const auto& [weight_name, sizes, value] : buffers)
    members.running_buffer(weight_name, value);
  if (changes_in_calls) members.running_buffer("state", *changes_in_calls);
  for (const KerasLayer& child : children) {
    std::string member = child.name;
    // Names of Keras may contain characters that separate names in weft.
    std::ranges::replace_if(
        member, [](char c) { return c == '.' || c == '/'; }, '_');
    members(member, child);
  }
}

template <class T>
KerasLayer<T> make_keras_layer(const json& description, KerasVersion version) {
  static const KerasReaders<T> readers = [] {
    KerasReaders<T> all = keras_core_layers<T>();
    all.merge(keras_activation_layers<T>());
    all.merge(keras_merging_layers<T>());
    all.merge(keras_convolution_layers<T>());
    all.merge(keras_attention_layers<T>());
    all.merge(keras_recurrent_layers<T>());
    all.merge(keras_models<T>());
    return all;
  }();
  static const KerasReaders<T> operations = keras_operations<T>();
  KerasLayer<T> layer;
  layer.class_name = required_entry<std::string>(description, "class_name");
  const json& entries = entry(description, "config");
  layer.name = entry_or<std::string>(entries, "name",
                                     entry_or<std::string>(description, "name", layer.class_name));
  in_layer(layer.class_name, layer.name, [&] {
    // An operation, such as Any, has neither weights nor a type.
    const bool is_operation = entries.is_object() && !entries.contains("trainable") &&
                              operations.contains(layer.class_name) && version.major_number > 2;
    const auto& known = is_operation ? operations : readers;
    const auto reader = known.find(layer.class_name);
    const std::string package = entry_or<std::string>(description, "registered_name", "");
    if (reader == known.end() || package.find('>') != package.npos)
      fail<ValueError>("class_name", "a layer of Keras that weft supports",
                       package.empty() ? layer.class_name : package);
    const std::string policy = dtype_of(entry(entries, "dtype"));
    if (policy != "float32" && policy != "float64" && policy != "int32" && policy != "int64" &&
        policy != "string" && policy != "bool" && policy != "uint8" && policy != "int8" &&
        policy != "int16" && policy != "uint16")
      fail<ValueError>("dtype", "float32 or float64", policy);
    // In older files, the configuration of a Sequential is the list of its layers.
    KerasConfig config(entries.is_array() ? json{{"layers", entries}} : entries, version);
    layer.arguments = printed_options(entries);
    layer.trainable = config.flag("trainable", true);
    layer.input_sizes = input_sizes(config);
    layer.activity_regularizer = read_regularizer<T>(config, "activity_regularizer");
    reader->second(layer, config);
    // Keras 2 divides by the size of the batch.
    if (layer.activity_regularizer && config.is_keras_2())
      layer.activity_regularizer = [sum = layer.activity_regularizer](const Var<T>& y) {
        return scale(sum(y), 1.0 / static_cast<double>(y.shape()[0]));
      };
    config.check_all_read();
  });
  return layer;
}

Index keras_axis(const char* entry, Index axis, Index rank) {
  const Index position = axis < 0 ? axis + rank : axis;
  if (position < 0 || position >= rank)
    fail<ValueError>(entry, str_cat("an axis between ", -rank, " and ", rank - 1), axis);
  return position;
}

template <class T>
Tensor<T> numbers_of(const Tensor<bool>& mask, Index rank) {
  std::vector<Index> sizes(mask.shape().begin(), mask.shape().end());
  sizes.resize(static_cast<std::size_t>(std::max(rank, mask.rank())), 1);
  Tensor<T> numbers{Shape(sizes)};
  std::ranges::transform(mask, numbers.data(), [](bool is_set) { return is_set ? T{1} : T{0}; });
  return numbers;
}

template struct KerasLayer<float>;
template struct KerasLayer<double>;
template KerasLayer<float> make_keras_layer(const json&, KerasVersion);
template KerasLayer<double> make_keras_layer(const json&, KerasVersion);
template Tensor<float> numbers_of(const Tensor<bool>&, Index);
template Tensor<double> numbers_of(const Tensor<bool>&, Index);

}  // namespace weft
