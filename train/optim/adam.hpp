// Adam and AdamW: steps scaled by running moments of the gradient.
#pragma once

#include <functional>

#include "weft/autograd/export.hpp"
#include "weft/train/optim/optimizer.hpp"

namespace weft {

// Options of Adam.
struct AdamOptions {
  // Learning rate, ≥ 0.
  double lr = 1e-3;
  double beta1 = 0.9;    // decay rate of the first moment m; 0 ≤ beta1 < 1
  double beta2 = 0.999;  // decay rate of the second moment v; 0 ≤ beta2 < 1
  // Added to the square root of the second moment, ≥ 0. If the sum is 0 (the element never had a
  // nonzero gradient, and eps is 0 or too small for T), the element is not changed; torch returns
  // NaN.
  double eps = 1e-8;
  // λ ≥ 0; λ · parameter is added to the gradient of every parameter.
  double weight_decay = 0.0;
  // Parameters with separate settings.
  ParameterGroups groups = {};
};

// Returns true for weight matrices (rank ≥ 2), false for biases and the scales of norms.
WEFT_API bool is_weight_matrix(const std::string& name, const Shape& shape);

// Options of AdamW.
struct AdamWOptions {
  double lr = 1e-3;      // learning rate, ≥ 0
  double beta1 = 0.9;    // see AdamOptions
  double beta2 = 0.999;  // see AdamOptions
  double eps = 1e-8;     // see AdamOptions
  // λ ≥ 0; each step multiplies the parameters with weight decay by 1 - lr · λ.
  double weight_decay = 0.01;
  // Selects the parameters with weight decay.
  std::function<bool(const std::string& name, const Shape& shape)> decays = is_weight_matrix;
  // Parameters with separate settings.
  ParameterGroups groups = {};
};

// Scales steps by running moments of the gradient g (Kingma and Ba, 2015; torch.optim.Adam). t is
// the number of steps in which the parameter had a gradient:
//   m ← β_1 m + (1 - β_1) g,  v ← β_2 v + (1 - β_2) g²
//   parameter ← parameter - lr · (m / (1 - β_1^t)) / (√(v / (1 - β_2^t)) + eps)
// Constructors throw ValueError for options outside their ranges.
//   Adam optimizer(model, {.lr = 3e-4});
//   optimizer.step();
template <class T = float>
class WEFT_API Adam : public Optimizer<T> {
 public:
  // Updates all parameters of a model.
  explicit Adam(Module<T>& model, const AdamOptions& options = {});
  // Updates the given parameters.
  explicit Adam(NamedParameters<T> parameters, const AdamOptions& options = {});
  // Updates the given parameters, whose names are their numbers: "0", "1", …
  explicit Adam(std::initializer_list<Parameter<T>*> parameters, const AdamOptions& options = {})
      : Adam(numbered<T>(parameters), options) {}
  explicit Adam(const std::vector<Parameter<T>*>& parameters, const AdamOptions& options = {})
      : Adam(numbered<T>(parameters), options) {}

 protected:
  // How weight decay is applied: added to the gradient, or to the parameter directly.
  enum class Decay { in_gradient, decoupled };
  // Constructor for AdamW and Muon; see the constructor of Optimizer for `type`, `decays` and
  // `is_undivided`. Undivided parameters have no second moment. `options_text` is added to the
  // description.
  Adam(std::string type, NamedParameters<T> parameters, const AdamOptions& options, Decay decay,
       const std::function<bool(const std::string&, const Shape&)>& decays,
       const std::function<bool(const std::string&, const Shape&)>& is_undivided = {},
       const std::string& options_text = "");

  // The kinds of state tensors, in the order of `add_tensors`.
  enum : std::size_t { first_moment, second_moment };

 private:
  void update(std::size_t index, Index size, T* values, const T* grad, T* const* state,
              T scale) override;

  AdamOptions options_;
  Decay decay_;
};

// Adam with decoupled weight decay (Loshchilov and Hutter, 2019; torch.optim.AdamW), by default
// only on weight matrices. Each step of Adam starts with
//   parameter ← (1 - lr · λ) parameter
// Constructors throw ValueError for options outside their ranges.
//   AdamW optimizer(model, {.lr = 1e-3, .weight_decay = 0.1});
//   optimizer.step();
template <class T = float>
class WEFT_API AdamW final : public Adam<T> {
 public:
  // Updates all parameters of a model.
  explicit AdamW(Module<T>& model, const AdamWOptions& options = {});
  // Updates the given parameters.
  explicit AdamW(NamedParameters<T> parameters, const AdamWOptions& options = {});
  // Updates the given parameters, whose names are their numbers: "0", "1", …
  //   AdamW optimizer({&model_weight});
  explicit AdamW(std::initializer_list<Parameter<T>*> parameters, const AdamWOptions& options = {})
      : AdamW(numbered<T>(parameters), options) {}
  explicit AdamW(const std::vector<Parameter<T>*>& parameters, const AdamWOptions& options = {})
      : AdamW(numbered<T>(parameters), options) {}
};

extern template class Adam<float>;
extern template class Adam<double>;
extern template class AdamW<float>;
extern template class AdamW<double>;

}  // namespace weft
