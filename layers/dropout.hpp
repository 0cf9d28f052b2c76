// Dropout: sets random elements to zero during training.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// Inverted dropout (Srivastava et al., 2014): on a training tape, each element is 0 with
// probability p and `y = x / (1 - p)` otherwise. On other tapes, the result is x itself.
//   Dropout dropout(0.1);
//   Var y = dropout(x);
template <class T = float>
struct WEFT_API Dropout : Module<T> {
  // Throws ValueError unless 0 ≤ p ≤ 1.
  explicit Dropout(double p);

  // Returns y, which has the shape of x.
  Var<T> operator()(const Var<T>& x) const;

  void members(Members<T>& members) const override;

  double p;  // the probability of zeroing an element, 0 ≤ p ≤ 1
};

extern template struct Dropout<float>;
extern template struct Dropout<double>;

}  // namespace weft
