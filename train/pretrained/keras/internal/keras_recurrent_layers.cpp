#include "train/pretrained/keras/internal/keras_recurrent_layers.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/comparison.hpp"
#include "weft/autograd/ops/dropout.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/autograd/ops/indexing.hpp"
#include "weft/autograd/ops/matmul.hpp"
#include "weft/autograd/ops/packed_steps.hpp"
#include "weft/autograd/ops/permute.hpp"
#include "weft/autograd/ops/recurrence.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "train/files/internal/json_entries.hpp"
#include "train/pretrained/keras/internal/keras_activations.hpp"
#include "train/pretrained/keras/internal/keras_config.hpp"

namespace weft {
namespace {

// Reverses the steps of a mask [batch, time].
Tensor<bool> reversed(const Tensor<bool>& mask) {
  Tensor<bool> result = mask.clone();
  const Index time = mask.shape().columns();
  for (bool* row = result.data(); row < result.data() + result.size(); row += time)
    std::reverse(row, row + time);
  return result;
}

// The computation of a recurrent layer, whose child `cell` has the weights kernel [in, gates ·
// units], recurrent_kernel [units, gates · units] and bias. A state is h, in an LSTM followed by c.
template <class T>
struct Cell {
  enum class Kind { simple, gru, lstm };

  Kind kind;
  Index units;
  bool has_bias, reset_after = false;
  KerasActivation<T> activation, recurrent_activation;
  // Whether the functions are tanh and σ, for which there are fused operations.
  bool is_standard;
  double dropout, recurrent_dropout;

  Cell(KerasLayer<T>& cell, KerasConfig& config) {
    const std::string& name = cell.class_name;
    kind = name.starts_with("LSTM")  ? Kind::lstm
           : name.starts_with("GRU") ? Kind::gru
                                     : Kind::simple;
    units = config.size("units");
    has_bias = config.flag("use_bias", true);
    dropout = config.number("dropout", 0);
    recurrent_dropout = config.number("recurrent_dropout", 0);
    config.ignore({"seed", "unit_forget_bias", "reset_after", "recurrent_activation"});
    is_standard = config.at("activation") == "tanh";
    activation = keras_activation<T>(config, "activation");
    if (kind != Kind::simple) {
      is_standard = is_standard && config.at("recurrent_activation") == "sigmoid";
      recurrent_activation = keras_activation<T>(config, "recurrent_activation");
    }
    // Files of versions before this option do not have it.
    if (kind == Kind::gru) reset_after = config.flag("reset_after", false);
    const Index width = gates() * units;
    cell.add_parameter(config, "kernel", {-1, width});
    cell.add_parameter(config, "recurrent_kernel", {units, width}, "recurrent");
    if (has_bias)
      cell.add_parameter(config, "bias",
                         reset_after ? std::vector<Index>{2, width} : std::vector<Index>{width});
  }

  Index gates() const { return kind == Kind::lstm ? 4 : kind == Kind::gru ? 3 : 1; }
  Index parts() const { return kind == Kind::lstm ? 2 : 1; }

  // Returns the states after each step of x [batch, steps, in], [batch, steps, parts · units];
  // those after the end of a sequence are unspecified.
  Var<T> operator()(const KerasLayer<T>& cell, KerasCall<T>& call, Var<T> x, const Var<T>& initial,
                    const ValidLens& lengths) const {
    Tape<T>& tape = call.tape;
    const auto dropped = [&](Index size, double rate) {
      const Tensor<T> ones = Tensor<T>::full({x.shape()[0], 1, size}, T{1});
      return weft::dropout(tape.constant(ones), rate);
    };
    if (dropout > 0 && tape.training()) x = x * dropped(x.shape()[2], dropout);
    Var<T> kernel = cell.weight(call, 0), recurrent = cell.weight(call, 1);
    Var<T> input_bias =
        has_bias ? cell.weight(call, 2) : tape.constant(Tensor<T>(Shape{gates() * units}));
    Var<T> bias = tape.constant(Tensor<T>(Shape{gates() * units}));
    if (reset_after && has_bias) {
      bias = select(input_bias, 0, 1);
      input_bias = select(input_bias, 0, 0);
    }
    const bool drops = recurrent_dropout > 0 && tape.training();
    if (is_standard && !drops && (kind != Kind::gru || reset_after)) {
      if (kind == Kind::gru)
        for (Var<T>* weights : {&kernel, &recurrent, &input_bias, &bias})
          *weights = reset_first(*weights);
      const Var<T> inputs = matmul(x, kernel) + input_bias;
      const auto recurrence = kind == Kind::lstm  ? &lstm_recurrence<T>
                              : kind == Kind::gru ? &gru_recurrence<T>
                                                  : &tanh_recurrence<T>;
      return recurrence(inputs, transpose(recurrent), bias, initial, lengths);
    }
    const Var<T> inputs = matmul(x, kernel) + input_bias;
    Var<T> state = initial;
    std::optional<Var<T>> kept;
    if (drops) kept = reshape(dropped(units, recurrent_dropout), {x.shape()[0], units});
    std::vector<Var<T>> states;
    for (Index t = 0; t < x.shape()[1]; ++t) {
      const Var<T> h = kind == Kind::lstm ? slice(state, 1, 0, units) : state;
      const Var<T> next = step(select(inputs, 1, t), kept ? h * *kept : h, state, recurrent, bias);
      // Past its end, a sequence keeps its state.
      Tensor<bool> continues({x.shape()[0], 1});
      for (Index b = 0; b < x.shape()[0]; ++b)
        continues.data()[b] = t < lengths.length(b, 0, x.shape()[1]);
      state = where(continues, next, state);
      states.push_back(state);
    }
    return stack(states, 1);
  }

 private:
  // Keras's order of gates is z, r, n; that of gru_recurrence r, z, n.
  Var<T> reset_first(const Var<T>& weights) const {
    const Index axis = weights.rank() - 1;
    const std::array<Var<T>, 3> gates{slice(weights, axis, units, 2 * units),
                                      slice(weights, axis, 0, units),
                                      slice(weights, axis, 2 * units, 3 * units)};
    return concatenate(std::span<const Var<T>>(gates), axis);
  }

  // Returns the state after one step. `inputs` [batch, gates · units] includes the bias of the
  // inputs, and `bias` is that of the recurrent product.
  //   simple:  h' = f(x + h U)
  //   LSTM:    c' = g(f) c + g(i) f(c̃),  h' = g(o) f(c')
  //   GRU:     h' = z h + (1 - z) n,  n = f(x_n + r (h U_n + b_n)), or f(x_n + (r h) U_n)
  Var<T> step(const Var<T>& inputs, const Var<T>& h, const Var<T>& state, const Var<T>& recurrent,
              const Var<T>& bias) const {
    const auto gate = [&](const Var<T>& x, Index i) {
      return slice(x, x.rank() - 1, i * units, (i + 1) * units);
    };
    if (kind == Kind::simple) return activation(inputs + matmul(h, recurrent));
    if (kind == Kind::lstm) {
      const Var<T> all = inputs + matmul(h, recurrent);
      const Var<T> c = recurrent_activation(gate(all, 1)) * slice(state, 1, units, 2 * units) +
                       recurrent_activation(gate(all, 0)) * activation(gate(all, 2));
      return concatenate(std::vector<Var<T>>{recurrent_activation(gate(all, 3)) * activation(c), c},
                         1);
    }
    if (reset_after) {
      const Var<T> product = matmul(h, recurrent) + bias;
      const Var<T> z = recurrent_activation(gate(inputs, 0) + gate(product, 0));
      const Var<T> r = recurrent_activation(gate(inputs, 1) + gate(product, 1));
      const Var<T> n = activation(gate(inputs, 2) + r * gate(product, 2));
      return z * h + (1 - z) * n;
    }
    const Var<T> z = recurrent_activation(gate(inputs, 0) + matmul(h, gate(recurrent, 0)));
    const Var<T> r = recurrent_activation(gate(inputs, 1) + matmul(h, gate(recurrent, 1)));
    const Var<T> n = activation(gate(inputs, 2) + matmul(r * h, gate(recurrent, 2)));
    return z * h + (1 - z) * n;
  }
};

// Returns initial states: those that the call passes, those after the last call of a stateful
// layer, or zeros.
template <class T>
Var<T> initial_state(const KerasLayer<T>& layer, const KerasCall<T>& call, const Cell<T>& cell) {
  std::vector<Var<T>> states;
  if (const auto named = call.named.find("initial_state"); named != call.named.end())
    for (const KerasValue<T>& state : named->second) states.push_back(state.tensor);
  for (std::size_t i = 1; i < call.inputs.size(); ++i) states.push_back(call.inputs[i].tensor);
  const Shape shape{call.x().shape()[0], cell.units};
  if (states.empty() && layer.state) {
    if (layer.state->shape()[0] != shape[0])
      fail<ShapeError>(
          "input", str_cat("the batch size of the last call, ", layer.state->shape()[0]), shape[0]);
    return call.tape.constant(*layer.state);
  }
  if (states.empty())
    states.assign(static_cast<std::size_t>(cell.parts()), call.tape.constant(Tensor<T>(shape)));
  if (std::ssize(states) != cell.parts())
    fail<ShapeError>("initial_state", str_cat(cell.parts(), " tensors"), states.size());
  for (const Var<T>& state : states)
    if (state.shape() != shape) fail<ShapeError>("initial_state", shape, state.shape());
  return states.size() == 1 ? states.front() : concatenate(states, 1);
}

template <class T>
void read_recurrent(KerasLayer<T>& layer, KerasConfig& config) {
  const bool return_sequences = config.flag("return_sequences", false);
  const bool return_state = config.flag("return_state", false);
  const bool go_backwards = config.flag("go_backwards", false);
  const bool is_stateful = config.flag("stateful", false);
  const bool zero_output = config.flag("zero_output_for_mask", false);
  config.ignore({"use_cudnn", "input_dim"});
  config.require("time_major", false);
  if (is_stateful) layer.changes_in_calls = Tensor<T>({0});

  // A layer RNN has the configuration of its cell apart.
  const nlohmann::json own = config.at("cell");
  layer.children.emplace_back();
  KerasLayer<T>& weights = layer.children.front();
  weights.name = "cell";
  weights.class_name =
      own.is_null() ? layer.class_name + "Cell" : required_entry<std::string>(own, "class_name");
  const std::string& name = weights.class_name;
  if (name != "LSTMCell" && name != "GRUCell" && name != "SimpleRNNCell")
    fail<ValueError>("cell", "LSTMCell, GRUCell or SimpleRNNCell", name);
  KerasConfig cell_config(
      entry(own, "config").is_null() ? nlohmann::json::object() : entry(own, "config"),
      config.version());
  const Cell<T> cell(weights, own.is_null() ? config : cell_config);
  cell_config.check_all_read();
  weights.trainable = layer.trainable;
  const bool is_keras_2 = config.is_keras_2();
  layer.call_arguments = {"initial_state"};
  layer.compute = [=](const KerasLayer<T>& self, KerasCall<T>& call) {
    Var<T> x = call.x();
    if (x.rank() != 3) fail<ShapeError>("input", "shape [batch, time, size]", x.shape());
    const Index batch = x.shape()[0], time = x.shape()[1], units = cell.units;
    std::optional<Tensor<bool>> mask = call.mask();
    if (const auto named = call.named.find("mask"); named != call.named.end())
      mask = named->second.front().tensor.value() != 0;
    const std::optional<Tensor<bool>> passed_on = mask;
    // Keras 3 loses the mask of a sequence if the call has several tensors.
    const bool has_state = call.inputs.size() > 1 || call.named.contains("initial_state");
    if (!is_keras_2 && has_state && !call.named.contains("mask")) mask.reset();
    if (mask && mask->shape() != Shape{batch, time})
      fail<ShapeError>("mask", Shape{batch, time}, mask->shape());
    if (go_backwards) {
      x = reverse_sequences(x);
      if (mask) mask = reversed(*mask);
    }
    const Var<T> initial = initial_state(self, call, cell);
    const ValidLens lengths = mask ? count_steps(*mask) : ValidLens{};
    const Var<T> states =
        cell(self.children.front(), call, mask ? pack_steps(x, *mask) : x, initial, lengths);
    const Var<T> h = cell.parts() == 1 ? states : slice(states, 2, 0, units);
    Var<T> all = mask ? unpack_steps(h, *mask) : h;
    if (mask && zero_output) all = all * call.tape.constant(numbers_of<T>(*mask, 3));

    std::vector<KerasValue<T>> outputs;
    if (return_sequences)
      outputs.push_back({all, passed_on});
    else
      outputs.push_back({select(all, 1, -1)});
    if (return_state || is_stateful) {
      const Var<T> last = last_states(states, initial, lengths);
      if (is_stateful) self.state = last.value().clone();
      for (Index i = 0; i < cell.parts(); ++i) {
        const Var<T> part = slice(last, 1, i * units, (i + 1) * units);
        if (return_state) outputs.push_back({part});
      }
    }
    return outputs;
  };
}

template <class T>
void read_bidirectional(KerasLayer<T>& layer, KerasConfig& config) {
  const nlohmann::json forward = config.at("layer");
  nlohmann::json backward = config.at("backward_layer");
  const std::string mode = config.has("merge_mode") ? config.text("merge_mode", "") : "none";
  if (mode != "concat" && mode != "sum" && mode != "mul" && mode != "ave" && mode != "none")
    fail<ValueError>("merge_mode", "concat, sum, mul, ave or null", mode);
  if (backward.is_null()) {
    backward = forward;
    backward["config"]["go_backwards"] = !entry_or(entry(forward, "config"), "go_backwards", false);
  }
  const bool return_sequences = entry_or(entry(forward, "config"), "return_sequences", false);
  const auto direction = [&](nlohmann::json description, const char* member) {
    description["config"]["zero_output_for_mask"] = return_sequences;
    layer.children.push_back(make_keras_layer<T>(description, config.version()));
    layer.children.back().name = member;
  };
  direction(forward, "forward_layer");
  direction(backward, "backward_layer");
  layer.call_arguments = {"initial_state"};
  layer.compute = [=](const KerasLayer<T>& self, KerasCall<T>& call) {
    // The first half of the initial states is for the forward layer.
    std::vector<KerasValue<T>> initial(call.inputs.begin() + 1, call.inputs.end());
    if (const auto named = call.named.find("initial_state"); named != call.named.end())
      initial = named->second;
    const auto half = static_cast<std::ptrdiff_t>(initial.size() / 2);
    const auto run = [&](std::size_t child, auto first, auto last) {
      KerasCall<T> own = call;
      own.inputs.erase(own.inputs.begin() + 1, own.inputs.end());
      own.named.erase("initial_state");
      if (first != last) own.named["initial_state"] = {first, last};
      return self.children[child](own);
    };
    std::vector<KerasValue<T>> outputs = run(0, initial.begin(), initial.begin() + half);
    std::vector<KerasValue<T>> other = run(1, initial.begin() + half, initial.end());
    if (return_sequences) other[0].tensor = reverse_sequences(other[0].tensor);
    Var<T>& y = outputs[0].tensor;
    const Var<T>& y_back = other[0].tensor;
    if (mode == "concat") y = concatenate(std::vector<Var<T>>{y, y_back}, y.rank() - 1);
    if (mode == "sum") y = y + y_back;
    if (mode == "mul") y = y * y_back;
    if (mode == "ave") y = scale(y + y_back, 0.5);
    const auto states = outputs.begin() + 1;
    if (mode == "none") outputs.insert(states, other[0]);
    outputs.insert(outputs.end(), other.begin() + 1, other.end());
    return outputs;
  };
}

// Applies a layer to each step: [batch, time, …] as [batch · time, …].
template <class T>
void read_time_distributed(KerasLayer<T>& layer, KerasConfig& config) {
  layer.children.push_back(make_keras_layer<T>(config.at("layer"), config.version()));
  layer.children.back().name = "layer";
  layer.compute = [](const KerasLayer<T>& self, KerasCall<T>& call) {
    const Var<T>& x = call.x();
    if (x.rank() < 2) fail<ShapeError>("input", "shape [batch, time, …]", x.shape());
    const Index batch = x.shape()[0], time = x.shape()[1];
    const auto merged = [&](const Shape& shape) { return shape.without(0).with(0, batch * time); };
    KerasCall<T> own = call;
    own.inputs = {{reshape(x, merged(x.shape()))}};
    std::optional<Tensor<bool>> mask = call.mask();
    if (mask && mask->rank() > 2) {
      own.inputs[0].mask = mask->reshaped(merged(mask->shape()));
      // A step counts if any of its elements does.
      const Index width = mask->size() / std::max<Index>(1, batch * time);
      Tensor<bool> steps({batch, time});
      for (Index i = 0; i < batch * time; ++i)
        steps.data()[i] = std::count(std::as_const(*mask).data() + i * width,
                                     std::as_const(*mask).data() + (i + 1) * width, true) > 0;
      mask = steps;
    }
    std::vector<KerasValue<T>> outputs = self.children.front()(own);
    for (KerasValue<T>& output : outputs) {
      const Shape shape = output.tensor.shape().with(0, time).inserted(0, batch);
      output = {reshape(output.tensor, shape), mask};
    }
    return outputs;
  };
}

}  // namespace

template <class T>
KerasReaders<T> keras_recurrent_layers() {
  return {{"SimpleRNN", &read_recurrent<T>},
          {"GRU", &read_recurrent<T>},
          {"LSTM", &read_recurrent<T>},
          {"RNN", &read_recurrent<T>},
          {"Bidirectional", &read_bidirectional<T>},
          {"TimeDistributed", &read_time_distributed<T>}};
}

template KerasReaders<float> keras_recurrent_layers();
template KerasReaders<double> keras_recurrent_layers();

}  // namespace weft
