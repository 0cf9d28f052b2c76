#include "weft/train/optim/clip.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "weft/autograd/finite.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {
template <class T>
double sum_of_squares(const ParameterElements<T>& elements, Index range) {
  double sum = 0.0;
  elements.for_each_part_of(range, [&](std::size_t index, Index begin, Index end, Index) {
    const GradientAccumulator<T>& gradient = elements.parameters()[index].parameter->gradient_sum();
    if (gradient.empty()) return;
    const T* values = gradient.values().data();
    double of_part = 0.0;
#pragma omp simd reduction(+ : of_part)
    for (Index i = begin; i < end; ++i)
      of_part += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    sum += of_part;
  });
  return sum;
}

template <class T>
double grad_norm(const ParameterElements<T>& elements) {
  elements.check_shapes("gradient norm");
  std::array<double, ParameterElements<T>::most_ranges> sums;
  parallel_for(elements.num_ranges(), 1, [&](Index first, Index last) {
    for (Index range = first; range < last; ++range)
      sums[static_cast<std::size_t>(range)] = sum_of_squares(elements, range);
  });
  return std::sqrt(std::accumulate(sums.begin(), sums.begin() + elements.num_ranges(), 0.0));
}

double clip_factor(double norm, double max_norm) {
  check_positive("clipping: max_norm", max_norm);
  if (!std::isfinite(norm))
    fail<NonFiniteError>("clipping", "gradients with a finite norm", str_cat("norm ", norm));
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
  elements.for_each_part([&](std::size_t index, Index begin, Index end) {
    GradientAccumulator<T>& gradient = elements.parameters()[index].parameter->gradient_sum();
    if (gradient.empty()) return;
    T* values = gradient.data();
    for (Index i = begin; i < end; ++i) values[i] *= factor;
  });
  return norm;
}

template <class T>
void check_gradients_finite(const std::string& what, const NamedParameters<T>& parameters) {
  for (const auto& [name, parameter] : parameters) {
    if (parameter->has_grad())
      check_finite(str_cat(what, ": gradient of ", name), parameter->grad());
  }
}

template double grad_norm(const ParameterElements<float>&);
template double grad_norm(const ParameterElements<double>&);
template double sum_of_squares(const ParameterElements<float>&, Index);
template double sum_of_squares(const ParameterElements<double>&, Index);
template double clip_grad_norm(Module<float>&, double);
template double clip_grad_norm(Module<double>&, double);
template void check_gradients_finite(const std::string&, const NamedParameters<float>&);
template void check_gradients_finite(const std::string&, const NamedParameters<double>&);

}  // namespace weft
