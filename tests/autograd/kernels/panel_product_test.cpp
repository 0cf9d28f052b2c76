#include "autograd/kernels/panel_product.hpp"

#include <cmath>
#include <vector>

#include <weft/autograd/random.hpp>
#include <weft/autograd/tensor.hpp>
#include "tests/catch.hpp"

using namespace weft;

namespace {

template <class T>
std::vector<Index> panel_widths() {
  std::vector<Index> widths;
  for (Index width = 2 * lanes<T>; (width = panel_width<T>(width)) > 0; --width)
    widths.push_back(width);
  return widths;
}

// a · panel + beta · c, with rows of c that are longer than the panel.
template <class T>
Tensor<T> computed(Index m, const Panel<T>& panel, const MatrixView<T>& a, T beta,
                   const Tensor<T>& c) {
  Tensor<T> result = c.clone();
  panel_product(m, panel, a, beta, result.data(), c.shape()[1]);
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("panel product: the widths are whole vectors of 16 bytes and more", "[autograd]",
                   float, double) {
  const std::vector<Index> widths = panel_widths<TestType>();
  CHECK(widths.front() == 2 * lanes<TestType>);
  CHECK(widths.back() == 16 / static_cast<Index>(sizeof(TestType)));
  CHECK(panel_width<TestType>(widths.back() - 1) == 0);
  CHECK(panel_width<TestType>(1000) == widths.front());
}

TEMPLATE_TEST_CASE("panel product: each element is the sum of its products", "[autograd]", float,
                   double) {
  using T = TestType;
  Random random(1);
  for (const Index width : panel_widths<T>())
    for (const Index m : {0, 1, 2, 5, 6, 7, 11, 12, 13, 24, 25, 59})
      for (const Index k : {0, 1, 5, 64})
        for (const bool transposed : {false, true})
          for (const T beta : {T{0}, T{1}, T(-0.5)})
            // Rows of the panel that touch, and that are more than 2 KiB apart.
            for (const Index stride : {width, width + 700}) {
              INFO("width " << width << " m " << m << " k " << k << " transposed " << transposed
                            << " beta " << beta << " stride " << stride);
              const auto a_values = random.uniform_tensor<T>(
                  transposed ? Shape{k, m + 3} : Shape{m, k + 3}, -1.0, 1.0);
              const MatrixView<T> a{a_values.data(), a_values.shape()[1], transposed};
              const auto b = random.uniform_tensor<T>({k, stride}, -1.0, 1.0);
              const auto c = random.uniform_tensor<T>({m, width + 5}, -1.0, 1.0);
              const Tensor<T> y = computed(m, {b.data(), stride, k, width}, a, beta, c);
              double worst = 0.0;
              for (Index i = 0; i < m; ++i)
                for (Index j = 0; j < width + 5; ++j) {
                  auto expected = static_cast<double>(c(i, j));
                  if (j < width) {
                    expected *= static_cast<double>(beta);
                    for (Index p = 0; p < k; ++p)
                      expected +=
                          static_cast<double>(*a.at(i, p).data) * static_cast<double>(b(p, j));
                  }
                  worst = std::max(worst, std::abs(static_cast<double>(y(i, j)) - expected));
                }
              CHECK(worst < (sizeof(T) == 4 ? 1e-5 : 1e-13));
            }
}

TEMPLATE_TEST_CASE("panel product: an element has the same bits for all rows and widths",
                   "[autograd]", float, double) {
  using T = TestType;
  constexpr Index most_rows = 40, k = 37, width = 2 * lanes<T>;
  Random random(2);
  const auto a = random.uniform_tensor<T>({most_rows, k}, -1.0, 1.0);
  const auto b = random.uniform_tensor<T>({k, width}, -1.0, 1.0);
  const auto c = random.uniform_tensor<T>({most_rows, width}, -1.0, 1.0);
  const Tensor<T> all = computed(most_rows, {b.data(), width, k, width}, {a.data(), k}, T{1}, c);
  for (const Index narrower : panel_widths<T>())
    for (Index m = 1; m <= most_rows; ++m) {
      const Tensor<T> some = computed(m, {b.data(), width, k, narrower}, {a.data(), k}, T{1}, c);
      bool same = true;
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < narrower; ++j) same = same && some(i, j) == all(i, j);
      INFO("m " << m << " width " << narrower);
      CHECK(same);
    }
}

TEST_CASE("panel product: without beta the old result is not read", "[autograd]") {
  const Tensor<float> a({1, 1}, {2.0F}), b = Tensor<float>::full({1, 4}, 3.0F);
  const auto c = Tensor<float>::full({1, 4}, std::nanf(""));
  CHECK(computed(1, {b.data(), 4, 1, 4}, {a.data(), 1}, 0.0F, c)(0, 3) == 6.0F);
}
