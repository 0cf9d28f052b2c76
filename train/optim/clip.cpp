#include "weft/train/optim/clip.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

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

double norm_of_sums(std::span<const double> sums) {
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

template <class T>
void sums_of_squares(const ParameterElements<T>& elements, Index first, Index last,
                     std::span<double> sums) {
  parallel_for(last - first, 1, [&](Index begin_range, Index end_range) {
    for (Index i = begin_range; i < end_range; ++i) {
      double sum = 0.0;
      elements.for_each_part(elements.range_begin(first + i), elements.range_begin(first + i + 1),
                             [&](std::size_t index, Index begin, Index end) {
                               const GradientSum<T>& gradient =
                                   elements.parameters()[index].parameter->gradient_sum();
                               if (!gradient.empty())
                                 sum += sum_of_squares(gradient.values().data(), begin, end);
                             });
      sums[static_cast<std::size_t>(i)] = sum;
    }
  });
}

template <class T>
double grad_norm(const ParameterElements<T>& elements) {
  elements.check_shapes("gradient norm");
  std::array<double, ParameterElements<T>::most_ranges> sums;
  const std::span<double> used(sums.data(), static_cast<std::size_t>(elements.num_ranges()));
  sums_of_squares(elements, 0, elements.num_ranges(), used);
  return norm_of_sums(used);
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
template void sums_of_squares(const ParameterElements<float>&, Index, Index, std::span<double>);
template void sums_of_squares(const ParameterElements<double>&, Index, Index, std::span<double>);
template double clip_grad_norm(Module<float>&, double);
template double clip_grad_norm(Module<double>&, double);
template void check_gradients_finite(const std::string&, const NamedParameters<float>&);
template void check_gradients_finite(const std::string&, const NamedParameters<double>&);

}  // namespace weft
