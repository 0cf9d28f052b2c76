// Linear: an affine map of the last axis.
#pragma once

#include <memory>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/activation.hpp"
#include "weft/autograd/random.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

struct LinearOptions {
  Index in_features = 0;   // the size of the input vectors
  Index out_features = 0;  // the size of the output vectors
  bool bias = true;        // whether to add a bias
};

template <class T>
struct WEFT_API Linear;

// Replaces the computation of a Linear (see Linear::map): an adapter such as Lora, weights stored
// in another format, or your own layer.
template <class T = float>
class WEFT_API LinearAdapter {
 public:
  virtual ~LinearAdapter() = default;
  // Maps x [..., in_features] to [..., out_features] in place of `linear`, which owns this map.
  virtual Var<T> operator()(const Linear<T>& linear, const Var<T>& x) const = 0;
  // Returns a copy with its own parameters.
  virtual std::unique_ptr<LinearAdapter> clone() const = 0;
  // Registers the parameters and children of this map, in addition to those of the Linear.
  virtual void members(Members<T>& members) const = 0;
};

// An affine map of the last axis, `y = x · weightᵀ + bias` (torch.nn.Linear). Weight and bias are
// initialized uniformly over ±1/√in_features, as in PyTorch.
//   Linear linear({.in_features = 3, .out_features = 5}, random);
//   Var y = linear(x, Activation::relu);  // x [2, 3], y [2, 5]
template <class T = float>
struct WEFT_API Linear : Module<T> {
  // Throws ValueError unless both sizes are > 0.
  Linear(const LinearOptions& options, Random& random);
  Linear(const Linear& other);
  Linear(Linear&&) noexcept = default;
  Linear& operator=(Linear other) noexcept;
  ~Linear() override = default;

  // Maps x [..., in_features] to [..., out_features], with `map` if it is set, and applies the
  // activation. Without `map`, the activation is part of the same operation. Throws ShapeError if
  // the last axis of x has a different size.
  Var<T> operator()(const Var<T>& x, Activation activation = Activation::none) const;
  // Maps x [..., in_features] to [..., out_features] with the weight and the bias, ignoring `map`.
  // Throws ShapeError if the last axis of x has a different size.
  Var<T> own(const Var<T>& x, Activation activation = Activation::none) const;

  void members(Members<T>& members) const override;

  Index in_features() const { return weight.shape()[1]; }   // the size of the input vectors
  Index out_features() const { return weight.shape()[0]; }  // the size of the output vectors

  Parameter<T> weight;                    // [out_features, in_features]
  std::optional<Parameter<T>> bias;       // [out_features]
  std::unique_ptr<LinearAdapter<T>> map;  // computes the result, unless null
};

extern template struct Linear<float>;
extern template struct Linear<double>;

}  // namespace weft
