#include "weft/layers/recurrent.hpp"

#include <array>
#include <cmath>

#include "weft/autograd/ops/dropout.hpp"
#include "weft/autograd/ops/linear.hpp"
#include "weft/autograd/ops/matmul.hpp"
#include "weft/autograd/ops/recurrence.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "weft/autograd/tape.hpp"
#include "autograd/ops/internal/masked_nan.hpp"
#include "layers/internal/checks.hpp"

namespace weft {

template <class T>
RecurrentLayers<T>::RecurrentLayers(const char* type, Index gates, Recurrence recurrence,
                                    const RecurrentOptions& options, Random& random)
    : type_(type),
      recurrence_(recurrence),
      bidirectional_(options.bidirectional),
      dropout_(options.dropout) {
  const std::string name = type;
  check_positive(name + ": input_size", options.input_size);
  check_positive(name + ": num_hiddens", options.num_hiddens);
  check_positive(name + ": num_layers", options.num_layers);
  check_probability(name + ": dropout", dropout_);
  const double bound = 1.0 / std::sqrt(static_cast<double>(options.num_hiddens));
  const auto parameter = [&](const Shape& shape) {
    return Parameter<T>(random.uniform_tensor<T>(shape, -bound, bound));
  };
  const Index directions = options.bidirectional ? 2 : 1;
  const Index size = options.num_hiddens, width = size_product(type, size, gates);
  for (Index i = 0; i < options.num_layers; ++i)
    for (Index direction = 0; direction < directions; ++direction)
      layers.push_back({parameter({width, i == 0 ? options.input_size : directions * size}),
                        parameter({width, size}), parameter({width}), parameter({width})});
}

template <class T>
void RecurrentLayers<T>::check_initial(const char* input, const Var<T>& x,
                                       const Var<T>& states) const {
  if (layers.empty() || x.rank() != 3) return;  // `run` throws
  const Shape expected{std::ssize(layers), x.shape()[0], layers.front().weight_hh.shape()[1]};
  if (states.shape() != expected)
    fail<ShapeError>(str_cat(type_, ": ", input), expected, states.shape());
}

template <class T>
RecurrentResult<T> RecurrentLayers<T>::operator()(
    const Var<T>& x, const ValidLens& valid_lens,
    const std::optional<Var<T>>& initial_states) const {
  if (initial_states) check_initial("initial_states", x, *initial_states);
  return run(x, valid_lens, initial_states, 1);
}

template <class T>
RecurrentResult<T> RecurrentLayers<T>::run(const Var<T>& x, const ValidLens& valid_lens,
                                           const std::optional<Var<T>>& initial,
                                           Index parts) const {
  if (layers.empty()) fail<Error>(str_cat(type_, ": layers"), "at least one element", 0);
  check_sequences(type_, x.shape(), layers.front().weight_ih.shape()[1]);
  const Index count = std::ssize(layers), batch = x.shape()[0], directions = bidirectional_ ? 2 : 1;
  const Index size = layers.front().weight_hh.shape()[1], state_size = parts * size;
  if (count % directions != 0)
    fail<Error>(str_cat(type_, ": layers"),
                "an even number of elements, two directions of each layer", count);
  Tape<T>& tape = x.tape();

  // A NaN past the end of a sequence would reach the gradient of W_ih, as 0 · NaN.
  const MaskView mask(type_, valid_lens, batch, 1, 1, x.shape()[1]);
  Var<T> states = HiddenKeys(mask).zeroed(x);
  std::optional<Var<T>> final_states, forward;
  // One at a time: a list of all of them would need a heap allocation.
  const auto joined = [](const Var<T>& first, const Var<T>& second, Index axis) {
    const std::array<Var<T>, 2> both{first, second};
    return concatenate(std::span<const Var<T>>(both), axis);
  };
  for (Index i = 0; i < count; ++i) {
    const Layer& layer = layers[static_cast<std::size_t>(i)];
    const bool reverse = i % directions == 1;
    if (dropout_ > 0.0 && i > 0 && !reverse) states = dropout(states, dropout_);
    const Var<T> first = initial ? reshape(slice(*initial, 0, i, i + 1), {batch, state_size})
                                 : tape.constant(x.tape().zeros({batch, state_size}));
    const Var<T> inputs = linear(reverse ? reverse_sequences(states, valid_lens) : states,
                                 tape.parameter(layer.weight_ih), tape.parameter(layer.bias_ih));
    const Var<T> all = recurrence_(inputs, tape.parameter(layer.weight_hh),
                                   tape.parameter(layer.bias_hh), first, valid_lens);
    const Var<T> last = reshape(last_states(all, first, valid_lens), {1, batch, state_size});
    final_states = final_states ? joined(*final_states, last, 0) : last;
    const Var<T> h = parts == 1 ? all : slice(all, 2, 0, size);
    if (reverse)
      states = joined(*forward, reverse_sequences(h, valid_lens), 2);
    else if (bidirectional_)
      forward = h;
    else
      states = h;
  }
  return {states, *final_states};
}

template <class T>
void RecurrentLayers<T>::members(Members<T>& members) const {
  const std::size_t directions = bidirectional_ ? 2 : 1;
  if (layers.empty()) {
    members.type(type_, "num_layers=0");
  } else {
    const Index input_size = layers.front().weight_ih.shape()[1];
    const Index size = layers.front().weight_hh.shape()[1];
    members.type(type_, str_cat(input_size, ", ", size, ", num_layers=", layers.size() / directions,
                                ", batch_first=True", bidirectional_ ? ", bidirectional=True" : "",
                                dropout_ > 0.0 ? str_cat(", dropout=", dropout_) : ""));
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string suffix = str_cat("_l", i / directions, i % directions == 1 ? "_reverse" : "");
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

template <class T>
LSTM<T>::LSTM(const RecurrentOptions& options, Random& random)
    : RecurrentLayers<T>("LSTM", 4, &lstm_recurrence<T>, options, random) {}

template <class T>
LstmResult<T> LSTM<T>::operator()(const Var<T>& x, const ValidLens& valid_lens,
                                  const std::optional<Var<T>>& initial_states,
                                  const std::optional<Var<T>>& initial_cells) const {
  if (initial_states) this->check_initial("initial_states", x, *initial_states);
  if (initial_cells) this->check_initial("initial_cells", x, *initial_cells);
  std::optional<Var<T>> initial;
  if (initial_states || initial_cells) {
    const Shape& shape = (initial_states ? *initial_states : *initial_cells).shape();
    const auto zeros = [&] { return x.tape().constant(x.tape().zeros(shape)); };
    const std::array<Var<T>, 2> both{initial_states ? *initial_states : zeros(),
                                     initial_cells ? *initial_cells : zeros()};
    initial = concatenate(std::span<const Var<T>>(both), 2);
  }
  const RecurrentResult<T> result = this->run(x, valid_lens, initial, 2);
  const Index size = this->layers.front().weight_hh.shape()[1];
  return {result.states, slice(result.final_states, 2, 0, size),
          slice(result.final_states, 2, size, 2 * size)};
}

template struct RecurrentLayers<float>;
template struct RecurrentLayers<double>;
template struct RNN<float>;
template struct RNN<double>;
template struct GRU<float>;
template struct GRU<double>;
template struct LSTM<float>;
template struct LSTM<double>;

}  // namespace weft
