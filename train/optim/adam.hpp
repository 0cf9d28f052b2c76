// Adam and AdamW: steps scaled by running moments of the gradient.
#pragma once

#include <functional>

#include "weft/autograd/export.hpp"
#include "weft/train/optim/optimizer.hpp"

namespace weft {

struct AdamOptions {
  // Learning rate, ≥ 0.
  double lr = 1e-3;
  double beta1 = 0.9;    // the decay rate of m, in 0 … 1 (1 excluded)
  double beta2 = 0.999;  // the decay rate of v, in 0 … 1 (1 excluded)
  // Added to the square root of the second moment, ≥ 0. Where the sum is 0 (an element that has had
  // no gradient, with an eps of 0 or one too small for T), there is no step, whereas torch gives
  // NaN.
  double eps = 1e-8;
  // λ ≥ 0, on every parameter, added to the gradient as λ · parameter.
  double weight_decay = 0.0;
  // Parameters with settings of their own.
  ParameterGroups groups = {};
};

// True for weight matrices (rank ≥ 2); false for biases and the scales of norms.
WEFT_API bool is_weight_matrix(const std::string& name, const Shape& shape);

struct AdamWOptions {
  double lr = 1e-3;      // learning rate, ≥ 0
  double beta1 = 0.9;    // see AdamOptions
  double beta2 = 0.999;  // see AdamOptions
  double eps = 1e-8;     // see AdamOptions
  // λ ≥ 0: each step also multiplies the parameters with weight decay by 1 - lr · λ.
  double weight_decay = 0.01;
  // Selects the parameters with weight decay.
  std::function<bool(const std::string& name, const Shape& shape)> decays = is_weight_matrix;
  // Parameters with settings of their own.
  ParameterGroups groups = {};
};

// Steps scaled by running moments of the gradient g (Kingma and Ba, 2015), with t the number of
// steps in which the parameter had a gradient:
//   m ← β_1 m + (1 - β_1) g,  v ← β_2 v + (1 - β_2) g²
//   parameter ← parameter - lr · (m / (1 - β_1^t)) / (√(v / (1 - β_2^t)) + eps)
// Constructors throw ValueError for options outside their ranges.
//   Adam optimizer(model, {.lr = 3e-4});
//   optimizer.step();
template <class T = float>
class WEFT_API Adam : public Optimizer<T> {
 public:
  // For all parameters of a model, or for some.
  explicit Adam(Module<T>& model, const AdamOptions& options = {});
  explicit Adam(NamedParameters<T> parameters, const AdamOptions& options = {});

 protected:
  // How weight decay is applied: added to the gradient, or to the parameter directly.
  enum class Decay { in_gradient, decoupled };
  // For AdamW: with `decays` of Optimizer.
  Adam(std::string type, NamedParameters<T> parameters, const AdamOptions& options, Decay decay,
       const std::function<bool(const std::string&, const Shape&)>& decays);

 private:
  void update(std::size_t index, Index size, T* values, const T* grad, T* const* state,
              T scale) override;

  enum : std::size_t { first_moment, second_moment };  // the state's tensors

  AdamOptions options_;
  Decay decay_;
};

// Adam with decoupled weight decay (Loshchilov and Hutter, 2019), by default on weight matrices
// only: before the step of Adam
//   parameter ← (1 - lr · λ) parameter
// Constructors throw ValueError for options outside their ranges.
//   AdamW optimizer(model, {.lr = 1e-3, .weight_decay = 0.1});
//   optimizer.step();
template <class T = float>
class WEFT_API AdamW final : public Adam<T> {
 public:
  // For all parameters of a model, or for some.
  explicit AdamW(Module<T>& model, const AdamWOptions& options = {});
  explicit AdamW(NamedParameters<T> parameters, const AdamWOptions& options = {});
};

extern template class Adam<float>;
extern template class Adam<double>;
extern template class AdamW<float>;
extern template class AdamW<double>;

}  // namespace weft
