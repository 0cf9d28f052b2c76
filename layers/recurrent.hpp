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

// Of RNN, GRU and LSTM.
struct RecurrentOptions {
  Index input_size = 0;   // of the input vectors
  Index num_hiddens = 0;  // of the states
  // The number of stacked layers; the input of each is the states of the one below.
  Index num_layers = 1;
  // Whether each layer also reads the sequences from their last step to the first, with parameters
  // of its own; its states are then both directions' side by side.
  bool bidirectional = false;
};

// What RNN and GRU return.
template <class T = float>
struct RecurrentResult {
  Var<T> states;        // [batch, time, directions · num_hiddens]: the states of the last layer
  Var<T> final_states;  // [num_layers · directions, batch, num_hiddens]: after the last step
};

// What LSTM returns.
template <class T = float>
struct LstmResult {
  Var<T> states;        // [batch, time, directions · num_hiddens]: h of the last layer
  Var<T> final_states;  // [num_layers · directions, batch, num_hiddens]: h after the last step
  Var<T> final_cells;   // of the same shape: c
};

// The base class of RNN, GRU and LSTM. Parameters have the names, shapes and initialization of
// torch.nn's: uniform over ±1/√num_hiddens. With `bidirectional` there are two directions, else one
// (Schuster and Paliwal, 1997).
template <class T = float>
struct WEFT_API RecurrentLayers : Module<T> {
  // x [batch, time, input_size], as with torch's batch_first=True. `initial_states`, zeros when not
  // given, is [num_layers · directions, batch, num_hiddens]: for instance the final states of the
  // preceding segment. With `valid_lens` [batch], each sequence stops at its length: its final
  // state is the one after its last step (in the reverse direction, which starts at the length,
  // after step 0), its states past the end are zeros, and the values of x there (even NaN) are
  // ignored, as with torch's packed sequences. Throws ShapeError, and ValueError for lengths that
  // are negative or greater than time.
  RecurrentResult<T> operator()(const Var<T>& x, const ValidLens& valid_lens = {},
                                const std::optional<Var<T>>& initial_states = {}) const;

  void members(Members<T>& members) const override;

  // The parameters of one layer in one direction; `gates` is 1 in an RNN, 3 in a GRU and 4 in an
  // LSTM.
  struct Layer {
    // [gates · num_hiddens, directions · num_hiddens; input_size in the first layer]
    Parameter<T> weight_ih;
    Parameter<T> weight_hh;  // [gates · num_hiddens, num_hiddens]
    Parameter<T> bias_ih;    // [gates · num_hiddens]
    Parameter<T> bias_hh;    // [gates · num_hiddens]
  };
  // Named weight_ih_l0, …, bias_hh_l0, weight_ih_l1, …; when bidirectional, each layer is followed
  // by its reverse direction: weight_ih_l0_reverse, …
  std::vector<Layer> layers;

  bool bidirectional() const { return bidirectional_; }  // see RecurrentOptions

 protected:
  // A recurrence of one layer and direction, such as gru_recurrence.
  using Recurrence = Var<T> (*)(const Var<T>& inputs, const Var<T>& weight, const Var<T>& bias,
                                const Var<T>& initial, const ValidLens& valid_lens);
  // `type` is the layer's name. Throws ValueError unless all sizes are > 0.
  RecurrentLayers(const char* type, Index gates, Recurrence recurrence,
                  const RecurrentOptions& options, Random& random);

  // As operator(), with its shapes, for states that consist of `parts` vectors side by side in
  // `initial` and in the final states.
  RecurrentResult<T> run(const Var<T>& x, const ValidLens& valid_lens,
                         const std::optional<Var<T>>& initial, Index parts) const;
  // Throws ShapeError, naming `input`, unless the states have the shape that operator() documents.
  void check_initial(const char* input, const Var<T>& x, const Var<T>& states) const;

 private:
  const char* type_;
  Recurrence recurrence_;
  bool bidirectional_;
};

// `h_t = tanh(W_ih x_t + b_ih + W_hh h_{t-1} + b_hh)`: torch.nn.RNN (Elman, 1990).
//   RNN rnn({.input_size = 3, .num_hiddens = 8}, random);
//   const auto [states, final_states] = rnn(x);  // x [2, 5, 3]: states [2, 5, 8], final [1, 2, 8]
template <class T = float>
struct WEFT_API RNN : RecurrentLayers<T> {
  // Throws ValueError unless all sizes are > 0.
  RNN(const RecurrentOptions& options, Random& random);
};

// The gated recurrent unit (Cho et al., 2014): torch.nn.GRU, with the gates r, z and n stacked in
// that order in each weight and bias; see gru_recurrence for r, z and n:
//   h_t = (1 - z) n + z h_{t-1}
// Shapes are those of RecurrentLayers.
//   GRU gru({.input_size = 3, .num_hiddens = 8, .num_layers = 2}, random);
//   const auto [states, final_states] = gru(x);  // x [2, 5, 3]: states [2, 5, 8], final [2, 2, 8]
template <class T = float>
struct WEFT_API GRU : RecurrentLayers<T> {
  // Throws ValueError unless all sizes are > 0.
  GRU(const RecurrentOptions& options, Random& random);
};

// Long short-term memory (Hochreiter and Schmidhuber, 1997): torch.nn.LSTM, with the gates i, f, g
// and o stacked in that order in each weight and bias; see lstm_recurrence for these:
//   c_t = f c_{t-1} + i g,  h_t = o tanh(c_t)
// Shapes are those of RecurrentLayers.
//   LSTM lstm({.input_size = 3, .num_hiddens = 8, .bidirectional = true}, random);
//   const auto [states, final_states, final_cells] = lstm(x);  // x [2, 5, 3]: states [2, 5, 16]
template <class T = float>
struct WEFT_API LSTM : RecurrentLayers<T> {
  // Throws ValueError unless all sizes are > 0.
  LSTM(const RecurrentOptions& options, Random& random);

  // As RecurrentLayers, with cells beside the states: `initial_cells`, zeros when not given, has
  // the shape of `initial_states`. Throws as RecurrentLayers.
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
