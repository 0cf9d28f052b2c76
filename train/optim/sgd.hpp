// SGD: stochastic gradient descent with momentum.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/train/optim/optimizer.hpp"

namespace weft {

struct SGDOptions {
  // Learning rate, ≥ 0.
  double lr = 1e-3;
  // μ in 0 … 1 (1 excluded).
  double momentum = 0.0;
  // λ ≥ 0, on every parameter, added to the gradient as λ · parameter.
  double weight_decay = 0.0;
  // Nesterov momentum: steps along g + μ · velocity (Sutskever et al., 2013); requires momentum.
  bool nesterov = false;
  // Parameters with settings of their own.
  ParameterGroups groups = {};
};

// Stochastic gradient descent with momentum, as torch.optim.SGD (Sutskever et al., 2013):
//   g ← gradient + λ · parameter,  v ← μ · v + g,  parameter ← parameter - lr · v
// Constructors throw ValueError for options outside their ranges.
//   SGD optimizer(model, {.lr = 0.1, .momentum = 0.9});
//   optimizer.step();
template <class T = float>
class WEFT_API SGD final : public Optimizer<T> {
 public:
  // For all parameters of a model, or for some.
  explicit SGD(Module<T>& model, const SGDOptions& options = {});
  explicit SGD(NamedParameters<T> parameters, const SGDOptions& options = {});

 private:
  void update(std::size_t index, Index size, T* values, const T* grad, T* const* state,
              T scale) override;

  SGDOptions options_;
};

extern template class SGD<float>;
extern template class SGD<double>;

}  // namespace weft
