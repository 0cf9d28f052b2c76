#include "tests/golden/comparison.hpp"

#include <cmath>
#include <iostream>
#include <limits>

#include "tests/catch.hpp"

namespace weft::golden {
namespace {

struct Summary {
  const char* type;
  double bound;
  Index tensors = 0, numbers = 0;
  double worst_error = 0.0;
  std::string worst = "";

  void add(const std::string& what, Index size, double error) {
    ++tensors;
    numbers += size;
    if (error <= worst_error) return;
    worst_error = error;
    worst = what;
  }
  // Prints nothing when nothing was compared, as when tests are only listed.
  ~Summary() {
    if (tensors > 0)
      std::cerr << "compared with PyTorch in " << type << ": " << tensors << " tensors of "
                << numbers << " numbers, worst relative error " << worst_error << " (bound "
                << bound << ") in " << worst << '\n';
  }
};

template <class T>
Summary& summary() {
  static Summary summary{std::is_same_v<T, double> ? "double" : "float", bound<T>};
  return summary;
}

}  // namespace

template <class T>
double relative_error(const Tensor<T>& actual, const Tensor<double>& expected) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (actual.shape() != expected.shape()) return infinity;
  double squares = 0.0;
  for (const double value : expected) squares += value * value;
  double typical = std::sqrt(squares / static_cast<double>(std::max<Index>(expected.size(), 1)));
  if (typical < 1e-12) typical = 1.0;
  double worst = 0.0;
  for (Index i = 0; i < expected.size(); ++i) {
    const double e = expected.data()[i];
    const double error =
        std::abs(static_cast<double>(actual.data()[i]) - e) / std::max(std::abs(e), typical);
    if (std::isnan(error)) return infinity;
    worst = std::max(worst, error);
  }
  return worst;
}

template <class T>
void check(const std::string& what, const Tensor<T>& actual, const Tensor<double>& expected) {
  const double error = relative_error(actual, expected);
  summary<T>().add(what, expected.size(), error);
  INFO(what);
  CHECK(error < bound<T>);
}

template double relative_error(const Tensor<float>&, const Tensor<double>&);
template double relative_error(const Tensor<double>&, const Tensor<double>&);
template void check(const std::string&, const Tensor<float>&, const Tensor<double>&);
template void check(const std::string&, const Tensor<double>&, const Tensor<double>&);

}  // namespace weft::golden
