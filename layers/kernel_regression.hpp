// KernelRegression: Nadaraya-Watson regression of scalars, the earliest form of attention pooling.
#pragma once

#include <string>

#include "weft/autograd/enum_names.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// The kernel K(u), which determines the weight of a point at distance u. Constant factors do not
// matter: they cancel.
enum class Kernel {
  constant,      // 1: average pooling
  gaussian,      // e^(-u²/2)
  boxcar,        // 1 for |u| ≤ 1
  epanechnikov,  // 1 - u² for |u| < 1
  triangular,    // 1 - |u| for |u| < 1; called Epanechnikov in d2l.ai
};

inline constexpr EnumNames<Kernel, 5> kernel_names{{
    {Kernel::constant, "constant"},
    {Kernel::gaussian, "gaussian"},
    {Kernel::boxcar, "boxcar"},
    {Kernel::epanechnikov, "epanechnikov"},
    {Kernel::triangular, "triangular"},
}};
inline std::string to_string(Kernel kernel) { return name_of("kernel", kernel, kernel_names); }

struct KernelRegressionOptions {
  Kernel kernel = Kernel::gaussian;  // the kernel that weights the points
  // The initial value of w, by which distances are multiplied: the larger, the narrower the kernel.
  double w = 1.0;
};

// Averages the values y_i, weighted by the proximity of their keys x_i to the query x (Nadaraya,
// 1964; Watson, 1964):
//   f(x) = (Σ_i K((x - x_i) w) y_i) / (Σ_j K((x - x_j) w))
// With the Gaussian kernel, f(x) is Σ_i softmax_i(-½ ((x - x_i) w)²) y_i. w is a parameter; to keep
// it fixed, leave it out of the optimizer. It has no gradient with the constant and boxcar kernels,
// which are piecewise constant.
//   KernelRegression regression({.kernel = Kernel::gaussian, .w = 2.0});
//   Var y = regression(queries, keys, values);  // queries [50], keys [20], values [20], y [50]
template <class T = float>
struct WEFT_API KernelRegression : Module<T> {
  // Throws ValueError unless w is finite and > 0.
  explicit KernelRegression(const KernelRegressionOptions& options);

  // Takes queries [num_queries], keys [num_keys] and values [num_keys]; returns [num_queries].
  // `allowed` [num_queries, num_keys] is true where a query may attend to a key; if empty, every
  // query attends to every key. The result is 0 for a query whose weights are all 0. Masked keys
  // and values, even if NaN, affect neither the result nor any gradient. The weights [1, 1,
  // num_queries, num_keys], whose rows sum to 1, are an intermediate result (see
  // Tape::take_attention_weights). Throws ShapeError.
  Var<T> operator()(const Var<T>& queries, const Var<T>& keys, const Var<T>& values,
                    const Tensor<bool>& allowed = {}) const;

  void members(Members<T>& members) const override;

  Kernel kernel;   // the kernel that weights the points
  Parameter<T> w;  // [1]
};

extern template struct KernelRegression<float>;
extern template struct KernelRegression<double>;

}  // namespace weft
