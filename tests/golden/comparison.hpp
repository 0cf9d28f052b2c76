// Comparisons of what weft computes with what PyTorch computed, and a tally of all of them, which
// the program prints when it ends.
#pragma once

#include <string>

#include <weft/autograd/tensor.hpp>

namespace weft::golden {

// How far the tensors are apart: the largest |actual - expected| / max(|expected|, r) of an
// element, where r is the root mean square of all that is expected. So large elements are measured
// against themselves, and small ones against what is usual around them. Where nothing but rounding
// is expected (r < 1e-12; the gradient of a bias of keys, for one, which adds the same to all
// scores of a query), r is 1, the size of what goes in. Infinite for different shapes and for NaN.
template <class T>
double relative_error(const Tensor<T>& actual, const Tensor<double>& expected);

// What the error must stay below.
template <class T>
constexpr double bound = 1e-5;
template <>
inline constexpr double bound<double> = 1e-10;

// A check that the relative error is below the bound, which is added to the tally; `what` says
// there and in messages what was compared.
template <class T>
void check(const std::string& what, const Tensor<T>& actual, const Tensor<double>& expected);

}  // namespace weft::golden
