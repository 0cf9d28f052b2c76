#include "weft/layers/recurrent.hpp"

#include <array>
#include <cmath>

#include "weft/autograd/ops/linear.hpp"
#include "weft/autograd/ops/matmul.hpp"
#include "weft/autograd/ops/recurrence.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "weft/autograd/pass.hpp"
#include "layers/internal/checks.hpp"
#include "layers/internal/hidden_keys.hpp"

namespace weft {

template <class T>
RecurrentLayers<T>::RecurrentLayers(const char* type, Index gates, Recurrence recurrence,
                                    const RecurrentOptions& options, Random& random)
    : type_(type), recurrence_(recurrence) {
  const std::string name = type;
  check_positive(name + ": input_size", options.input_size);
  check_positive(name + ": num_hiddens", options.num_hiddens);
  check_positive(name + ": num_layers", options.num_layers);
  const double bound = 1.0 / std::sqrt(static_cast<double>(options.num_hiddens));
  const auto parameter = [&](const Shape& shape) {
    return Parameter<T>(random.uniform_tensor<T>(shape, -bound, bound));
  };
  const Index size = options.num_hiddens, width = size_product(type, size, gates);
  for (Index i = 0; i < options.num_layers; ++i)
    layers.push_back({parameter({width, i == 0 ? options.input_size : size}),
                      parameter({width, size}), parameter({width}), parameter({width})});
}

template <class T>
RecurrentResult<T> RecurrentLayers<T>::operator()(
    const Var<T>& x, const ValidLens& valid_lens,
    const std::optional<Var<T>>& initial_states) const {
  if (layers.empty()) fail<Error>(type_, "at least one layer", "none");
  const Shape& weight = layers.front().weight_ih.shape();
  check_sequences(type_, x.shape(), weight[1]);
  const Index count = std::ssize(layers), batch = x.shape()[0];
  const Index size = layers.front().weight_hh.shape()[1];
  Tape<T>& tape = x.tape();
  if (initial_states && initial_states->shape() != Shape{count, batch, size})
    fail<ShapeError>(concatenate_text(type_, ": initial_states"), Shape{count, batch, size},
                     initial_states->shape());

  // A NaN past the end of a sequence would reach the gradient of W_ih, as 0 · NaN.
  const MaskView mask(type_, valid_lens, batch, 1, 1, x.shape()[1]);
  Var<T> states = HiddenKeys(mask).zeroed(x);
  std::optional<Var<T>> final_states;
  for (Index i = 0; i < count; ++i) {
    const Layer& layer = layers[static_cast<std::size_t>(i)];
    const Var<T> initial = initial_states
                               ? reshape(slice(*initial_states, 0, i, i + 1), {batch, size})
                               : tape.constant(x.pass().zeros({batch, size}));
    const Var<T> inputs =
        linear(states, tape.parameter(layer.weight_ih), tape.parameter(layer.bias_ih));
    states = recurrence_(inputs, tape.parameter(layer.weight_hh), tape.parameter(layer.bias_hh),
                         initial, valid_lens);
    const Var<T> last = reshape(last_states(states, initial, valid_lens), {1, batch, size});
    // One at a time: a list of them would need a heap allocation.
    const std::array<Var<T>, 2> both{final_states.value_or(last), last};
    final_states = i == 0 ? last : concatenate(std::span<const Var<T>>(both), 0);
  }
  return {states, *final_states};
}

template <class T>
void RecurrentLayers<T>::members(Members<T>& members) {
  if (layers.empty()) {
    members.type(type_, "num_layers=0");
  } else {
    const Index input_size = layers.front().weight_ih.shape()[1];
    const Index size = layers.front().weight_hh.shape()[1];
    members.type(type_, concatenate_text(input_size, ", ", size, ", num_layers=", layers.size(),
                                         ", batch_first=True"));
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string suffix = "_l" + std::to_string(i);
    members("weight_ih" + suffix, layers[i].weight_ih);
    members("weight_hh" + suffix, layers[i].weight_hh);
    members("bias_ih" + suffix, layers[i].bias_ih);
    members("bias_hh" + suffix, layers[i].bias_hh);
  }
}

template <class T>
RNN<T>::RNN(const RecurrentOptions& options, Random& random)
    : RecurrentLayers<T>("RNN", 1, &tanh_recurrence<T>, options, random) {}

template <class T>
GRU<T>::GRU(const RecurrentOptions& options, Random& random)
    : RecurrentLayers<T>("GRU", 3, &gru_recurrence<T>, options, random) {}

template struct RecurrentLayers<float>;
template struct RecurrentLayers<double>;
template struct RNN<float>;
template struct RNN<double>;
template struct GRU<float>;
template struct GRU<double>;

}  // namespace weft
