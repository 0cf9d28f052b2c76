#include "weft/train/optim/clip.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "weft/autograd/finite.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {
namespace {

template <class T>
double sum_of_squares(const T* values, Index begin, Index end) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (Index i = begin; i < end; ++i)
    sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  return sum;
}

}  // namespace

template <class T>
double grad_norm(const ParameterElements<T>& elements) {
  elements.check_shapes("gradient norm");
  // One sum per range, added in the order of the ranges.
  constexpr Index max_ranges = 256;
  std::array<double, max_ranges> sums{};
  const Index grain = std::max(grain_of(1), (elements.size() + max_ranges - 1) / max_ranges);
  parallel_for(elements.size(), grain, [&](Index first, Index last) {
    double sum = 0.0;
    elements.for_each_part(first, last, [&](std::size_t index, Index begin, Index end) {
      const GradientSum<T>& gradient = elements.parameters()[index].parameter->gradient_sum();
      if (!gradient.empty()) sum += sum_of_squares(gradient.values().data(), begin, end);
    });
    sums[static_cast<std::size_t>(first / grain)] = sum;
  });
  double total = 0.0;
  for (double sum : sums) total += sum;
  return std::sqrt(total);
}

double clip_factor(double norm, double max_norm) {
  check_positive("clipping: max_norm", max_norm);
  if (!std::isfinite(norm))
    fail<NonFiniteError>("clipping", "gradients of a finite norm", concatenate_text("norm ", norm));
  check_at_least("clipping: norm", norm, 0.0);
  return std::min(1.0, max_norm / (norm + 1e-6));
}

template <class T>
double clip_grad_norm(Module<T>& model, double max_norm) {
  const ParameterElements<T> elements(named_parameters(model));
  const double norm = grad_norm(elements);
  if (!std::isfinite(norm)) check_gradients_finite("clipping", elements.parameters());
  const auto factor = static_cast<T>(clip_factor(norm, max_norm));
  if (factor == T{1}) return norm;
  elements.prepare("clipping");
  parallel_for(elements.size(), grain_of(1), [&](Index first, Index last) {
    elements.for_each_part(first, last, [&](std::size_t index, Index begin, Index end) {
      GradientSum<T>& gradient = elements.parameters()[index].parameter->gradient_sum();
      if (gradient.empty()) return;
      T* values = gradient.data();
      for (Index i = begin; i < end; ++i) values[i] *= factor;
    });
  });
  return norm;
}

template <class T>
void check_gradients_finite(const std::string& what, const NamedParameters<T>& parameters) {
  for (const auto& [name, parameter] : parameters) {
    if (parameter->has_grad())
      check_finite(concatenate_text(what, ": gradient of ", name), parameter->grad());
  }
}

template double grad_norm(const ParameterElements<float>&);
template double grad_norm(const ParameterElements<double>&);
template double clip_grad_norm(Module<float>&, double);
template double clip_grad_norm(Module<double>&, double);
template void check_gradients_finite(const std::string&, const NamedParameters<float>&);
template void check_gradients_finite(const std::string&, const NamedParameters<double>&);

}  // namespace weft
