// SGD: stochastic gradient descent with momentum.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/train/optim/optimizer.hpp"

namespace weft {

// Options of SGD.
struct SGDOptions {
  // Learning rate, ≥ 0.
  double lr = 1e-3;
  // μ; 0 ≤ momentum < 1.
  double momentum = 0.0;
  // λ ≥ 0; λ · parameter is added to the gradient of every parameter.
  double weight_decay = 0.0;
  // Nesterov momentum: the step is lr · (g + μ · v) (Sutskever et al., 2013). Requires momentum >
  // 0.
  bool nesterov = false;
  // Parameters with separate settings.
  ParameterGroups groups = {};
};

// Stochastic gradient descent with momentum (Sutskever et al., 2013; torch.optim.SGD):
//   g ← gradient + λ · parameter,  v ← μ · v + g,  parameter ← parameter - lr · v
// Constructors throw ValueError for options outside their ranges.
//   SGD optimizer(model, {.lr = 0.1, .momentum = 0.9});
//   optimizer.step();
template <class T = float>
class WEFT_API SGD final : public Optimizer<T> {
 public:
  // Updates all parameters of a model.
  explicit SGD(Module<T>& model, const SGDOptions& options = {});
  // Updates the given parameters.
  explicit SGD(NamedParameters<T> parameters, const SGDOptions& options = {});
  // Updates the given parameters, whose names are their numbers: "0", "1", …
  explicit SGD(std::initializer_list<Parameter<T>*> parameters, const SGDOptions& options = {})
      : SGD(numbered<T>(parameters), options) {}
  explicit SGD(const std::vector<Parameter<T>*>& parameters, const SGDOptions& options = {})
      : SGD(numbered<T>(parameters), options) {}

 private:
  void update(std::size_t index, Index size, T* values, const T* grad, T* const* state,
              T scale) override;

  SGDOptions options_;
};

extern template class SGD<float>;
extern template class SGD<double>;

}  // namespace weft
