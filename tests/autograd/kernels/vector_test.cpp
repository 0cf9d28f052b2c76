#include "autograd/kernels/vector.hpp"

#include <cmath>
#include <vector>

#include "autograd/kernels/vector_math.hpp"
#include "tests/catch.hpp"

namespace weft {
namespace {

constexpr Index longest = 70;  // four of the longest vectors of float, and a remainder

// n small integers, whose sums are exact, followed by elements that must not be read.
template <class T>
std::vector<T> row_of(Index n, int seed) {
  std::vector<T> row(static_cast<std::size_t>(n) + 8, T{1000});
  for (Index j = 0; j < n; ++j)
    row[static_cast<std::size_t>(j)] = static_cast<T>((j * 37 + seed) % 19 - 9);
  return row;
}

}  // namespace

TEMPLATE_TEST_CASE("rows: mapped, accumulated and summed at every length", "[autograd]", float,
                   double) {
  using T = TestType;
  for (Index n = 0; n <= longest; ++n) {
    INFO("n " << n);
    const std::vector<T> x = row_of<T>(n, 5), y = row_of<T>(n, 11);
    std::vector<T> mapped(x.size(), T{-1}), added = x, written = x;
    map_row(n, mapped.data(), product, x.data(), y.data());
    accumulate_row(n, added.data(), false, identity, y.data());
    accumulate_row(n, written.data(), true, identity, y.data());
    T sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      const bool inside = static_cast<Index>(j) < n;
      if (inside) sum += x[j] * y[j];
      CHECK(mapped[j] == (inside ? x[j] * y[j] : T{-1}));
      CHECK(added[j] == (inside ? x[j] + y[j] : T{1000}));
      CHECK(written[j] == (inside ? y[j] : T{1000}));
    }
    CHECK(sum_of_row(n, product, x.data(), y.data()) == sum);
  }
}

TEMPLATE_TEST_CASE("rows: row_maximum finds the maximum at any position and ignores NaN",
                   "[autograd]", float, double) {
  using T = TestType;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  CHECK(row_maximum<T>(nullptr, 0) == -infinity);
  for (Index n = 1; n <= longest; ++n)
    for (Index position = 0; position < n; ++position) {
      INFO("n " << n << " position " << position);
      std::vector<T> x = row_of<T>(n, 3);
      x[static_cast<std::size_t>(position)] = T{42};
      if (n > 1)
        x[static_cast<std::size_t>((position + 1) % n)] = std::numeric_limits<T>::quiet_NaN();
      CHECK(row_maximum(x.data(), n) == T{42});
    }
  const std::vector<T> all_infinite(20, -infinity);
  CHECK(row_maximum(all_infinite.data(), 20) == -infinity);
}

TEST_CASE("fast_exp: gives the same results for numbers and vectors", "[autograd]") {
  const std::vector<float> points = {-std::numeric_limits<float>::infinity(),
                                     -200.0F,
                                     -87.0F,
                                     -1.0F,
                                     -1e-6F,
                                     0.0F,
                                     0.3F,
                                     1.0F,
                                     20.0F,
                                     88.0F,
                                     200.0F};
  std::vector<float> row;
  for (int copy = 0; copy < 4; ++copy) row.insert(row.end(), points.begin(), points.end());
  std::vector<float> result(row.size());
  map_row(
      static_cast<Index>(row.size()), result.data(), [](const auto& x) { return fast_exp(x); },
      row.data());
  for (std::size_t j = 0; j < row.size(); ++j) {
    INFO("x " << row[j]);
    CHECK(result[j] == fast_exp(row[j]));
    if (row[j] >= -87.0F && row[j] <= 88.0F)
      CHECK(static_cast<double>(result[j]) ==
            Approx(std::exp(static_cast<double>(row[j]))).epsilon(3e-7));
  }
  CHECK(result[0] == 0.0F);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(fast_exp(nan)));
}

}  // namespace weft
