// KerasLayer: one layer of a KerasModel, with its weights in the form in which Keras stores them.
// Include only in .cpp files.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

class KerasConfig;
struct KerasVersion;

// A value that flows between layers. `mask`, if set, is true for the steps that are not padding:
// [batch, time], or the shape of the token ids that it was computed from.
template <class T>
struct KerasValue {
  Var<T> tensor;
  std::optional<Tensor<bool>> mask = {};
};

// One use of a layer.
template <class T>
struct KerasCall {
  Tape<T>& tape;
  std::vector<KerasValue<T>> inputs;                             // positional arguments
  std::map<std::string, std::vector<KerasValue<T>>> named = {};  // such as initial_state
  std::map<std::string, bool> flags = {};                        // such as use_causal_mask
  std::optional<Var<T>>* penalty = nullptr;  // the sum of all activity regularizers

  const Var<T>& x() const { return inputs.front().tensor; }
  const std::optional<Tensor<bool>>& mask() const { return inputs.front().mask; }
  bool flag(const std::string& name) const {
    const auto found = flags.find(name);
    return found != flags.end() && found->second;
  }
};

// A weight that an optimizer updates (Weight = Parameter<T>) or that it does not (Tensor<T>). A
// size of -1 is not known before the weights are loaded; {any_rank} stands for any shape.
inline constexpr Index any_rank = -2;
template <class Weight>
struct KerasWeight {
  std::string name;
  std::vector<Index> sizes;
  Weight value = {};
};

template <class T>
struct KerasLayer final : Module<T> {
  using Values = std::vector<KerasValue<T>>;
  // Computes the outputs. `layer` is the layer itself.
  using Compute = std::function<Values(const KerasLayer& layer, KerasCall<T>& call)>;
  // Returns the penalty of a weight (see KerasModel::run).
  using Regularizer = std::function<Var<T>(const Var<T>&)>;

  std::string class_name, name;
  std::string arguments = {};  // as printed
  bool trainable = true;
  std::vector<KerasWeight<Parameter<T>>> parameters = {};
  // Updated by training passes: the averages of BatchNormalization.
  mutable std::vector<KerasWeight<Tensor<T>>> buffers = {};
  // Regularizers by the index of their parameter.
  std::vector<std::pair<std::size_t, Regularizer>> regularizers = {};
  Regularizer activity_regularizer = {};
  // Layers within the layer. Their name is the layer's name in a model, or the name of the member
  // in Keras, such as "cell".
  std::vector<KerasLayer> children = {};
  Compute compute = {};
  // The tensors and flags that a call may pass by name.
  std::vector<std::string_view> call_arguments = {};
  // For a recurrent layer with `stateful`: the state after the last call, [batch, size].
  mutable std::optional<Tensor<T>> state = {};
  // For such a layer, a tensor without elements. It is registered as a running buffer, so that
  // batches are not computed in parts, which would change the state at the same time.
  std::optional<Tensor<T>> changes_in_calls = {};
  // For an InputLayer: the sizes without the batch, -1 for any size.
  std::vector<Index> input_sizes = {};
  // For a model: the positions of its inputs among `children`, in order.
  std::vector<std::size_t> input_layers = {};

  // Adds a weight, and its regularizer, if the configuration contains one: the entry
  // "kernel_regularizer" for `entries` = "kernel", which is the name of most weights. Returns the
  // weight's index.
  std::size_t add_parameter(KerasConfig& config, const std::string& parameter,
                            std::vector<Index> sizes, std::string entries = "");
  // Returns a weight as a variable.
  Var<T> weight(const KerasCall<T>& call, std::size_t index) const {
    return call.tape.parameter(parameters[index].value);
  }

  // Runs the layer. Errors name it.
  Values operator()(KerasCall<T>& call) const;
  void members(Members<T>& members) const override;
};

// Creates a layer from an entry of "layers" in a configuration, which has a class_name and a
// config. The weights have no values yet. Throws ValueError, naming the layer and its class, for
// a class or an option that is not supported.
template <class T>
KerasLayer<T> make_keras_layer(const nlohmann::json& description, KerasVersion version);

// Reads the options of a layer from its configuration, adds its weights and sets `compute`.
template <class T>
using KerasReader = void (*)(KerasLayer<T>& layer, KerasConfig& config);
// The layers, by class.
template <class T>
using KerasReaders = std::map<std::string_view, KerasReader<T>>;

// Return one output: with the mask of the first input, and without a mask.
template <class T>
std::vector<KerasValue<T>> with_mask(const KerasCall<T>& call, Var<T> y) {
  return {{std::move(y), call.mask()}};
}
template <class T>
std::vector<KerasValue<T>> without_mask(Var<T> y) {
  return {KerasValue<T>{std::move(y), std::nullopt}};
}

// Return the computation of a layer that applies `function`, from Var<T> to Var<T>, to one input.
// The output has the input's mask, or none.
template <class T, class Function>
typename KerasLayer<T>::Compute keeping_mask(Function function) {
  return
      [=](const KerasLayer<T>&, KerasCall<T>& call) { return with_mask(call, function(call.x())); };
}
template <class T, class Function>
typename KerasLayer<T>::Compute dropping_mask(Function function) {
  return [=](const KerasLayer<T>&, KerasCall<T>& call) { return without_mask(function(call.x())); };
}

// Returns a position in [0, rank) for an axis that may count from the end. Throws ValueError for
// an axis that does not exist.
Index keras_axis(const char* entry, Index axis, Index rank);

// Returns 1 where a mask is true and 0 elsewhere, in the mask's shape followed by axes of size 1.
template <class T>
Tensor<T> numbers_of(const Tensor<bool>& mask, Index rank);

}  // namespace weft
