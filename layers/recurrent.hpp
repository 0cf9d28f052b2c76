// RNN, GRU and LSTM: recurrent layers.
#pragma once

#include <optional>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/random.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// Options of RNN, GRU and LSTM.
struct RecurrentOptions {
  Index input_size = 0;   // the size of the input vectors
  Index num_hiddens = 0;  // the size of the hidden states
  // The number of stacked layers. The input of each layer above the first is the states of the
  // layer below it.
  Index num_layers = 1;
  // Whether each layer also reads the sequences in reverse, with separate parameters. Its states
  // are those of both directions, concatenated.
  bool bidirectional = false;
  // The probability of dropping an element of the states that a layer passes to the layer above it
  // during training, 0 ≤ dropout ≤ 1.
  double dropout = 0.0;
};

// The result of RNN and GRU.
template <class T = float>
struct RecurrentResult {
  Var<T> states;        // [batch, time, directions · num_hiddens]: the states of the last layer
  Var<T> final_states;  // [num_layers · directions, batch, num_hiddens]: states after the last step
};

// The result of LSTM.
template <class T = float>
struct LstmResult {
  Var<T> states;        // [batch, time, directions · num_hiddens]: h of the last layer
  Var<T> final_states;  // [num_layers · directions, batch, num_hiddens]: h after the last step
  Var<T> final_cells;   // [num_layers · directions, batch, num_hiddens]: c after the last step
};

// The base class of RNN, GRU and LSTM. Parameters have the names, shapes and initialization of
// torch.nn: uniform over ±1/√num_hiddens. With `bidirectional`, there are two directions (Schuster
// and Paliwal, 1997); otherwise, one.
template <class T = float>
struct WEFT_API RecurrentLayers : Module<T> {
  // Takes x [batch, time, input_size], like torch's layers with batch_first=True. `initial_states`
  // [num_layers · directions, batch, num_hiddens], for example the final states of the preceding
  // segment, defaults to zeros. With `valid_lens` [batch], each sequence ends at its length, as
  // with torch's packed sequences: its final state is the state after its last step, its states
  // past the end are zeros, and the values of x there, even NaN, are ignored. The reverse direction
  // starts at the end of the sequence; its final state is the state after step 0. Throws
  // ShapeError, and ValueError unless 0 ≤ valid_lens ≤ time.
  RecurrentResult<T> operator()(const Var<T>& x, const ValidLens& valid_lens = {},
                                const std::optional<Var<T>>& initial_states = {}) const;

  void members(Members<T>& members) const override;

  // The parameters of one layer in one direction, where `gates` is 1 in an RNN, 3 in a GRU and 4 in
  // an LSTM.
  struct Layer {
    // [gates · num_hiddens, input_size] in the first layer, and [gates · num_hiddens, directions ·
    // num_hiddens] in all other layers.
    Parameter<T> weight_ih;
    Parameter<T> weight_hh;  // [gates · num_hiddens, num_hiddens]
    Parameter<T> bias_ih;    // [gates · num_hiddens]
    Parameter<T> bias_hh;    // [gates · num_hiddens]
  };
  // The layers, whose parameters are named weight_ih_l0, …, bias_hh_l0, weight_ih_l1, … If
  // bidirectional, each layer is followed by its reverse direction: weight_ih_l0_reverse, …
  std::vector<Layer> layers;

  bool bidirectional() const { return bidirectional_; }  // see RecurrentOptions

 protected:
  // The recurrence of one layer in one direction, such as gru_recurrence.
  using Recurrence = Var<T> (*)(const Var<T>& inputs, const Var<T>& weight, const Var<T>& bias,
                                const Var<T>& initial, const ValidLens& valid_lens);
  // `type` is the layer's name. Throws ValueError unless all sizes are > 0 and 0 ≤ dropout ≤ 1.
  RecurrentLayers(const char* type, Index gates, Recurrence recurrence,
                  const RecurrentOptions& options, Random& random);

  // Computes the result of operator() for states that consist of `parts` concatenated vectors: the
  // last axis of `initial` and of the final states has size parts · num_hiddens. All other shapes
  // are the same.
  RecurrentResult<T> run(const Var<T>& x, const ValidLens& valid_lens,
                         const std::optional<Var<T>>& initial, Index parts) const;
  // Throws ShapeError unless `states` has the shape of operator()'s initial_states. The message
  // names `input`.
  void check_initial(const char* input, const Var<T>& x, const Var<T>& states) const;

 private:
  const char* type_;
  Recurrence recurrence_;
  bool bidirectional_;
  double dropout_;
};

// A recurrent layer with the activation tanh (Elman, 1990; torch.nn.RNN):
//   h_t = tanh(W_ih x_t + b_ih + W_hh h_{t-1} + b_hh)
// RecurrentLayers documents the shapes.
//   RNN rnn({.input_size = 3, .num_hiddens = 8}, random);
//   const auto [states, final_states] = rnn(x);  // x [2, 5, 3]: states [2, 5, 8], final [1, 2, 8]
template <class T = float>
struct WEFT_API RNN : RecurrentLayers<T> {
  // Throws ValueError unless all sizes are > 0 and 0 ≤ dropout ≤ 1.
  RNN(const RecurrentOptions& options, Random& random);
};

// The gated recurrent unit (Cho et al., 2014; torch.nn.GRU). Each weight and bias stacks the gates
// r, z and n in this order; see gru_recurrence for their definition:
//   h_t = (1 - z) n + z h_{t-1}
// RecurrentLayers documents the shapes.
//   GRU gru({.input_size = 3, .num_hiddens = 8, .num_layers = 2}, random);
//   const auto [states, final_states] = gru(x);  // x [2, 5, 3]: states [2, 5, 8], final [2, 2, 8]
template <class T = float>
struct WEFT_API GRU : RecurrentLayers<T> {
  // Throws ValueError unless all sizes are > 0 and 0 ≤ dropout ≤ 1.
  GRU(const RecurrentOptions& options, Random& random);
};

// Long short-term memory (Hochreiter and Schmidhuber, 1997; torch.nn.LSTM). Each weight and bias
// stacks the gates i, f, g and o in this order; see lstm_recurrence for their definition:
//   c_t = f c_{t-1} + i g,  h_t = o tanh(c_t)
// RecurrentLayers documents the shapes.
//   LSTM lstm({.input_size = 3, .num_hiddens = 8, .bidirectional = true}, random);
//   const auto [states, final_states, final_cells] = lstm(x);  // x [2, 5, 3]: states [2, 5, 16]
template <class T = float>
struct WEFT_API LSTM : RecurrentLayers<T> {
  // Throws ValueError unless all sizes are > 0 and 0 ≤ dropout ≤ 1.
  LSTM(const RecurrentOptions& options, Random& random);

  // Computes the states as RecurrentLayers does, along with the cells. `initial_cells` has the
  // shape of `initial_states`, [num_layers · directions, batch, num_hiddens], and also defaults to
  // zeros. Throws the same exceptions as RecurrentLayers.
  LstmResult<T> operator()(const Var<T>& x, const ValidLens& valid_lens = {},
                           const std::optional<Var<T>>& initial_states = {},
                           const std::optional<Var<T>>& initial_cells = {}) const;
};

extern template struct RecurrentLayers<float>;
extern template struct RecurrentLayers<double>;
extern template struct RNN<float>;
extern template struct RNN<double>;
extern template struct GRU<float>;
extern template struct GRU<double>;
extern template struct LSTM<float>;
extern template struct LSTM<double>;

}  // namespace weft
