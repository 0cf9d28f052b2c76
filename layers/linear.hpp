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
  bool bias = true;        // whether there is one
};

template <class T>
struct Linear;

// What computes the result of a Linear in its place: an adapter (see Lora), weights in another
// form, or a layer of your own.
template <class T = float>
class WEFT_API LinearAdapter {
 public:
  virtual ~LinearAdapter() = default;
  // The result [..., out_features] of `linear` for x [..., in_features].
  virtual Var<T> operator()(const Linear<T>& linear, const Var<T>& x) const = 0;
  // A copy with parameters of its own.
  virtual std::unique_ptr<LinearAdapter> clone() const = 0;
  // Registers parameters and children beside the weight and the bias of the Linear.
  virtual void members(Members<T>& members) const = 0;
};

// `y = x · weightᵀ + bias`. Weight and bias are initialized uniformly over ±1/√in_features, as
// torch.nn.Linear.
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

  // x [..., in_features], result [..., out_features], with the activation applied to it in the same
  // operation. Throws ShapeError.
  Var<T> operator()(const Var<T>& x, Activation activation = Activation::none) const;
  // The same by the weight and the bias, whatever `map` is: x [..., in_features], result
  // [..., out_features]. Throws ShapeError.
  Var<T> own(const Var<T>& x, Activation activation = Activation::none) const;

  void members(Members<T>& members) const override;

  Index in_features() const { return weight.shape()[1]; }   // the size of the input vectors
  Index out_features() const { return weight.shape()[0]; }  // the size of the output vectors

  Parameter<T> weight;                    // [out_features, in_features]
  std::optional<Parameter<T>> bias;       // [out_features]
  std::unique_ptr<LinearAdapter<T>> map;  // null: the Linear's own
};

extern template struct Linear<float>;
extern template struct Linear<double>;

}  // namespace weft
