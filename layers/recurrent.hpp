// RNN and GRU: recurrent layers.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/random.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

struct RecurrentOptions {
  // The sizes of the input vectors and of the states.
  Index input_size = 0;
  Index num_hiddens = 0;
  // The number of stacked layers; the input of each is the states of the one below.
  Index num_layers = 1;
};

template <class T = float>
struct RecurrentResult {
  Var<T> states;        // [batch, time, num_hiddens]: the states of the last layer
  Var<T> final_states;  // [num_layers, batch, num_hiddens]: after each sequence's last step
};

// The base class of RNN and GRU. Parameters have the names, shapes and initialization of
// torch.nn's: uniform over ±1/√num_hiddens.
template <class T = float>
struct WEFT_API RecurrentLayers : Module<T> {
  // x [batch, time, input_size], as with torch's batch_first=True. `initial_states`, zeros when not
  // given, is [num_layers, batch, num_hiddens]: for instance the final states of the preceding
  // segment. With `valid_lens` [batch], each sequence stops at its length: its final state is the
  // one after its last step, its states past the end are zeros, and the values of x there (even
  // NaN) are ignored. Throws ShapeError, and ValueError for lengths that are negative or greater
  // than time.
  RecurrentResult<T> operator()(const Var<T>& x, const ValidLens& valid_lens = {},
                                const std::optional<Var<T>>& initial_states = {}) const;

  void members(Members<T>& members) override;

  // The parameters of one layer; `gates` is 1 in an RNN and 3 in a GRU.
  struct Layer {
    Parameter<T> weight_ih;  // [gates · num_hiddens, num_hiddens; input_size in the first layer]
    Parameter<T> weight_hh;  // [gates · num_hiddens, num_hiddens]
    Parameter<T> bias_ih;    // [gates · num_hiddens]
    Parameter<T> bias_hh;    // [gates · num_hiddens]
  };
  std::vector<Layer> layers;  // named weight_ih_l0, …, bias_hh_l0, weight_ih_l1, …

 protected:
  using Recurrence = Var<T> (*)(const Var<T>& inputs, const Var<T>& weight, const Var<T>& bias,
                                const Var<T>& initial, const ValidLens& valid_lens);
  // `type` is the layer's name. Throws ValueError unless all options are > 0.
  RecurrentLayers(const char* type, Index gates, Recurrence recurrence,
                  const RecurrentOptions& options, Random& random);

 private:
  const char* type_;
  Recurrence recurrence_;
};

// h_t = tanh(W_ih x_t + b_ih + W_hh h_{t-1} + b_hh): torch.nn.RNN (Elman, 1990).
template <class T = float>
struct WEFT_API RNN : RecurrentLayers<T> {
  // Throws ValueError unless all options are > 0.
  RNN(const RecurrentOptions& options, Random& random);
};

// The gated recurrent unit (Cho et al., 2014): torch.nn.GRU, with the gates r, z and n stacked in
// that order in each weight and bias; see gru_recurrence.
template <class T = float>
struct WEFT_API GRU : RecurrentLayers<T> {
  // Throws ValueError unless all options are > 0.
  GRU(const RecurrentOptions& options, Random& random);
};

extern template struct RecurrentLayers<float>;
extern template struct RecurrentLayers<double>;
extern template struct RNN<float>;
extern template struct RNN<double>;
extern template struct GRU<float>;
extern template struct GRU<double>;

}  // namespace weft
