// KernelRegression: attention pooling in its oldest form, of numbers along a line.
#pragma once

#include <string>

#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// How the weight of a point falls with its distance u, up to a factor, which plays no part.
enum class Kernel {
  constant,      // 1: average pooling
  gaussian,      // e^(-u²/2)
  boxcar,        // 1 for |u| ≤ 1
  epanechnikov,  // 1 - u² for |u| < 1
  triangular,    // 1 - |u| for |u| < 1; what d2l.ai calls Epanechnikov's
};

// "gaussian", …
std::string to_string(Kernel kernel);

struct KernelRegressionOptions {
  Kernel kernel = Kernel::gaussian;
  // Where w starts. Distances are multiplied with it: the larger, the narrower the kernel.
  double w = 1.0;
};

// f(x) = Σ_i K((x - x_i) w) y_i / Σ_j K((x - x_j) w): the average of the values y_i, weighted by
// how near their keys x_i are to the query x (Nadaraya, 1964; Watson, 1964). With the Gaussian
// kernel that is Σ_i softmax_i(-½ ((x - x_i) w)²) y_i. w is a parameter; who does not train it has
// a fixed one. It has no gradient with the constant kernel and with the boxcar, which is flat.
template <class T = float>
struct KernelRegression : Module<T> {
  // Throws ValueError unless w > 0.
  explicit KernelRegression(const KernelRegressionOptions& options);

  // queries [num_queries], keys [num_keys], values [num_keys], result [num_queries]. `seen`
  // [num_queries, num_keys] is true where a query may see a key; when not given, it sees all. A
  // query gets 0 when no key that it sees is near enough for a weight. What hidden keys and values
  // hold (NaN too) reaches nothing. `weights`, when given, receives [num_queries, num_keys], rows
  // that sum to 1. Throws ShapeError.
  Var<T> operator()(const Var<T>& queries, const Var<T>& keys, const Var<T>& values,
                    const Tensor<bool>& seen = {}, Tensor<T>* weights = nullptr) const;

  void members(Members<T>& members) override;

  Kernel kernel;
  Parameter<T> w;  // [1]
};

extern template struct KernelRegression<float>;
extern template struct KernelRegression<double>;

}  // namespace weft
