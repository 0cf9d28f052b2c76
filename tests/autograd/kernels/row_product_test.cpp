#include "autograd/kernels/row_product.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include <weft/autograd/random.hpp>
#include <weft/autograd/tensor.hpp>
#include "autograd/internal/bfloat16.hpp"
#include "tests/catch.hpp"

using namespace weft;

namespace {

// x wᵀ / 2 with rows that are longer than k elements.
template <class T>
Tensor<T> product(Index m, Index n, Index k, const Tensor<T>& x, const Tensor<T>& w) {
  auto y = Tensor<T>::full({m, n + 1}, T{7});
  row_product(m, n, k, T(0.5), x.data(), x.shape()[1], w.data(), w.shape()[1], y.data(), n + 1);
  return y;
}

}  // namespace

TEMPLATE_TEST_CASE("row product: each element is the sum of its products", "[autograd]", float,
                   double) {
  using T = TestType;
  Random random(1);
  for (Index m = 1; m <= 19; ++m)
    for (const Index n : {1, 2, 7, 8, 9, 40})
      for (const Index k : {0, 1, 5, 16, 33, 511, 560}) {
        INFO("m " << m << " n " << n << " k " << k);
        const auto x = random.uniform_tensor<T>({m, k + 3}, -1.0, 1.0);
        const auto w = random.uniform_tensor<T>({n, k + 2}, -1.0, 1.0);
        const Tensor<T> y = product(m, n, k, x, w);
        double worst = 0.0;
        for (Index i = 0; i < m; ++i) {
          for (Index j = 0; j < n; ++j) {
            double sum = 0.0;
            for (Index p = 0; p < k; ++p)
              sum += static_cast<double>(x(i, p)) * static_cast<double>(w(j, p));
            worst = std::max(worst, std::abs(static_cast<double>(y(i, j)) - sum / 2));
          }
          CHECK(y(i, n) == T{7});
        }
        CHECK(worst < (sizeof(T) == 4 ? 1e-5 : 1e-13));
      }
}

TEMPLATE_TEST_CASE("row product: an element has the same bits whatever else is computed",
                   "[autograd]", float, double) {
  using T = TestType;
  Random random(2);
  for (const Index k : {37, 600}) {
    const auto x = random.uniform_tensor<T>({17, k}, -1.0, 1.0);
    const auto w = random.uniform_tensor<T>({21, k}, -1.0, 1.0);
    const Tensor<T> all = product(17, 21, k, x, w);
    for (Index m = 1; m < 17; ++m) {
      const Tensor<T> fewer = product(m, 21, k, x, w);
      for (Index j = 0; j < 21; ++j) {
        CHECK(fewer(m - 1, j) == all(m - 1, j));
        T alone{};
        row_product(1, 1, k, T(0.5), x.data() + (m - 1) * k, k, w.data() + j * k, k, &alone, 1);
        CHECK(alone == all(m - 1, j));
      }
    }
  }
}

TEMPLATE_TEST_CASE("row product: bf16 weights give the bits of the same numbers", "[autograd]",
                   float, double) {
  using T = TestType;
  Random random(3);
  for (const Index k : {1, 37, 600})
    for (const Index m : {1, 2, 5, 8, 16}) {
      constexpr Index n = 29;
      const auto x = random.uniform_tensor<T>({m, k}, -1.0, 1.0);
      std::vector<std::uint16_t> w16;
      Tensor<T> w({n, k}), y({m, n});
      for (T& element : w) {
        w16.push_back(bfloat16_of(static_cast<float>(random.uniform()) - 0.5F));
        element = static_cast<T>(float_of_bfloat16(w16.back()));
      }
      const Tensor<T> expected = product(m, n, k, x, w);
      row_product(m, n, k, T(0.5), x.data(), k, w16.data(), k, y.data(), n);
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < n; ++j) CHECK(y(i, j) == expected(i, j));
    }
}
