// Tests of relative_error, the metric of the golden tests.
#include "tests/golden/comparison.hpp"

#include <cmath>
#include <limits>

#include "tests/catch.hpp"

using namespace weft;

namespace {

double error(std::initializer_list<double> actual, std::initializer_list<double> expected) {
  return golden::relative_error(Tensor<double>({std::ssize(actual)}, actual),
                                Tensor<double>({std::ssize(expected)}, expected));
}

}  // namespace

TEST_CASE(
    "comparison: the error is relative to large elements themselves, and to the typical size for "
    "small ones",
    "[golden]") {
  CHECK(error({3, 4}, {3, 4}) == 0.0);
  // The root mean square of 1 and 7 is 5.
  CHECK(error({1, 7.7}, {1, 7}) == Approx(0.1));
  CHECK(error({1.5, 7}, {1, 7}) == Approx(0.1));
  CHECK(error({-1, 7}, {1, 7}) == Approx(0.4));
}

TEST_CASE("comparison: errors are absolute when zeros are expected", "[golden]") {
  CHECK(error({0.25, 0}, {0, 0}) == 0.25);
  CHECK(error({0.25, 0}, {1e-17, 0}) == 0.25);
}

TEST_CASE("comparison: NaN and different shapes have an infinite error", "[golden]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isinf(error({1, nan}, {1, 2})));
  CHECK(std::isinf(error({1, 2}, {1, nan})));
  CHECK(std::isinf(error({1}, {1, 2})));
}
