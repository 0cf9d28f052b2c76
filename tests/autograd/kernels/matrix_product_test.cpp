#include "autograd/kernels/matrix_product.hpp"

#include <sys/time.h>

#include <cmath>
#include <csignal>
#include <limits>
#include <vector>

#include <weft/autograd/random.hpp>
#include <weft/autograd/tensor.hpp>
#include "tests/catch.hpp"

namespace weft {
namespace {

// The reference: element by element, in double.
template <class T>
Tensor<T> reference_product(Index m, Index n, Index k, double alpha, MatrixView<T> a,
                            MatrixView<T> b, double beta, const Tensor<T>& c) {
  Tensor<T> result = c.clone();
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) {
      double sum = 0.0;
      for (Index p = 0; p < k; ++p)
        sum += static_cast<double>(*a.at(i, p).data) * static_cast<double>(*b.at(p, j).data);
      result(i, j) =
          static_cast<T>(alpha * sum + (beta == 0.0 ? 0.0 : beta * static_cast<double>(c(i, j))));
    }
  return result;
}

template <class T>
void check_product(Index m, Index n, Index k, bool transpose_a, bool transpose_b, double beta,
                   bool parallel) {
  INFO("m " << m << " n " << n << " k " << k << " transposed " << transpose_a << transpose_b
            << " beta " << beta << (parallel ? " parallel" : ""));
  Random random(static_cast<std::uint64_t>(m * 10000 + n * 100 + k));
  // Strides larger than the rows.
  const Index a_stride = (transpose_a ? m : k) + 3, b_stride = (transpose_b ? k : n) + 1;
  const auto a_values = random.uniform_tensor<T>({transpose_a ? k : m, a_stride}, -1.0, 1.0);
  const auto b_values = random.uniform_tensor<T>({transpose_b ? n : k, b_stride}, -1.0, 1.0);
  const MatrixView<T> a{a_values.data(), a_stride, transpose_a};
  const MatrixView<T> b{b_values.data(), b_stride, transpose_b};
  auto c = random.uniform_tensor<T>({m, n + 2}, -1.0, 1.0);
  if (beta == 0.0) c.fill(std::numeric_limits<T>::quiet_NaN());
  const Tensor<T> expected = reference_product<T>(m, n, k, 0.5, a, b, beta, c);
  if (parallel)
    parallel_matrix_product(Precision::full, m, n, k, T(0.5), a, b, static_cast<T>(beta), c.data(),
                            n + 2);
  else
    matrix_product(Precision::full, m, n, k, T(0.5), a, b, static_cast<T>(beta), c.data(), n + 2);
  const double tolerance =
      (sizeof(T) == 4 ? 1e-6 : 1e-14) * (1.0 + std::sqrt(static_cast<double>(k)));
  double worst = 0.0;
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n + 2; ++j) {
      const double difference =
          std::abs(static_cast<double>(c(i, j)) - static_cast<double>(expected(i, j)));
      const bool both_nan = std::isnan(c(i, j)) && std::isnan(expected(i, j));
      if (!both_nan && !(difference <= worst)) worst = difference;
    }
  CHECK(worst <= tolerance);
}

}  // namespace

TEMPLATE_TEST_CASE("matrix product: agrees with the definition", "[autograd]", float, double) {
  const Index sizes[][3] = {{1, 1, 1},    {2, 3, 4},      {7, 5, 3},     {8, 16, 24},
                            {9, 17, 2},   {13, 33, 40},   {5, 1, 100},   {1, 70, 9},
                            {64, 64, 64}, {130, 50, 70},  {70, 150, 33}, {300, 20, 129},
                            {9, 40, 600}, {210, 160, 130}};
  for (const auto& [m, n, k] : sizes)
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true})
        for (const double beta : {0.0, 1.0, -0.5}) {
          check_product<TestType>(m, n, k, transpose_a, transpose_b, beta, false);
          check_product<TestType>(m, n, k, transpose_a, transpose_b, beta, true);
        }
}

TEMPLATE_TEST_CASE("matrix product: with k = 0, the result is beta times the old matrix",
                   "[autograd]", float, double) {
  std::vector<TestType> c = {1, 2, 3, 4};
  matrix_product<TestType>(Precision::full, 2, 2, 0, 1, {nullptr, 1}, {nullptr, 1}, 2, c.data(), 2);
  CHECK(c == std::vector<TestType>{2, 4, 6, 8});
  matrix_product<TestType>(Precision::full, 2, 2, 0, 1, {nullptr, 1}, {nullptr, 1}, 0, c.data(), 2);
  CHECK(c == std::vector<TestType>{0, 0, 0, 0});
  matrix_product<TestType>(Precision::full, 0, 2, 2, 1, {nullptr, 1}, {nullptr, 1}, 0, c.data(), 2);
}

TEST_CASE("matrix product: tiles cover the result once, for all sizes", "[autograd]") {
  for (const Index m : {1, 7, 48, 97, 1000, 5000})
    for (const Index n : {1, 16, 43, 96, 1536})
      for (const Index k : {0, 1, 100, 4096}) {
        const Tiles tiles(ProductKernel::general, m, n, k);
        Index covered = 0;
        for (Index tile = 0; tile < tiles.count(); ++tile) {
          const Index row = tile / tiles.tiles_per_row() * tiles.tile_rows;
          const Index column = tile % tiles.tiles_per_row() * tiles.tile_columns;
          REQUIRE(row < m);
          REQUIRE(column < n);
          covered += std::min(tiles.tile_rows, m - row) * std::min(tiles.tile_columns, n - column);
        }
        CHECK(covered == m * n);
      }
}

TEST_CASE("matrix product: large results have a tile for each of 16 threads", "[autograd]") {
  CHECK(Tiles(ProductKernel::general, 2048, 384, 384).count() == 16);
  CHECK(Tiles(ProductKernel::general, 384, 1536, 2048).count() == 16);
  CHECK(Tiles(ProductKernel::general, 256, 3072, 768).count() == 16);
  CHECK(Tiles(ProductKernel::general, 768, 128, 128).count() == 8);
  CHECK(Tiles(ProductKernel::general, 32, 32, 32).count() == 1);
}

namespace {
volatile std::sig_atomic_t alarms = 0;
}  // namespace

// A signal handler writes below the stack pointer, which a library may have moved into the heap.
TEST_CASE("matrix product: a signal during a product does no harm", "[autograd]") {
  constexpr Index m = 300, n = 200, k = 400;
  const Tensor<float> a = Tensor<float>::full({m, k}, 0.5F), b = Tensor<float>::full({k, n}, 0.25F);
  Tensor<float> c({m, n});
  struct sigaction action {
  }, previous{};
  action.sa_handler = [](int) { alarms = alarms + 1; };
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, &previous);
  const itimerval every_millisecond{{0, 1000}, {0, 1000}}, never{};
  setitimer(ITIMER_REAL, &every_millisecond, nullptr);
  // A corrupted heap aborts.
  for (int i = 0; alarms < 20 && i < 100000; ++i)
    matrix_product(Precision::full, m, n, k, 1.0F, {a.data(), k}, {b.data(), n}, 0.0F, c.data(), n);
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &previous, nullptr);
  CHECK(alarms >= 20);
  for (const float value : c.values()) REQUIRE(value == 50.0F);
}

}  // namespace weft
