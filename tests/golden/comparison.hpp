// Comparisons of weft's results with PyTorch's, and a summary of all of them, printed at exit.
#pragma once

#include <string>

#include <weft/autograd/tensor.hpp>

namespace weft::golden {

// The relative error of a tensor: the largest |actual - expected| / max(|expected|, r) of an
// element, where r is the root mean square of `expected`. So the error is relative to large
// elements themselves, and to the typical size for small ones. When only rounding errors are
// expected (r < 1e-12; for example, the gradient of a bias of keys, which adds the same to all
// scores of a query), r is 1, the size of the inputs. Infinite for different shapes and for NaN.
template <class T>
double relative_error(const Tensor<T>& actual, const Tensor<double>& expected);

// The upper bound of the error.
template <class T>
constexpr double bound = 1e-5;
template <>
inline constexpr double bound<double> = 1e-10;

// Checks that the relative error is below the bound, and adds it to the summary; `what` names the
// tensor there and in messages.
template <class T>
void check(const std::string& what, const Tensor<T>& actual, const Tensor<double>& expected);

}  // namespace weft::golden
