#include "autograd/kernels/bf16_product.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/autograd/precision.hpp>
#include <weft/autograd/random.hpp>
#include <weft/autograd/tensor.hpp>
#include "autograd/internal/bf16_emulation.hpp"
#include "autograd/internal/bfloat16.hpp"
#include "autograd/kernels/matrix_product.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"

using namespace weft;

namespace {

// Runs `check` with emulation and, where the processor has them, with its bf16 instructions.
template <class Check>
void with_and_without_emulation(const Check& check) {
  {
    INFO("emulated");
    const EmulateBf16 emulation;
    check();
  }
  if (is_supported(Precision::bf16))
    check();
  else
    WARN("the processor has no bf16 instructions: they are not tested");
}

double rounded(float x) { return static_cast<double>(float_of_bfloat16(bfloat16_of(x))); }

// a · b / 2 + beta · c against sums in double; c has columns beyond n, which must not change.
void check_product(Index m, Index n, Index k, bool transpose_a, bool transpose_b, float beta) {
  INFO("m " << m << " n " << n << " k " << k << " transposed " << transpose_a << transpose_b
            << " beta " << beta);
  Random random(static_cast<std::uint64_t>(m * 10000 + n * 100 + k));
  const Index a_stride = (transpose_a ? m : k) + 3, b_stride = (transpose_b ? k : n) + 1;
  const auto a_values = random.normal_tensor<float>({transpose_a ? k : m, a_stride});
  const auto b_values = random.normal_tensor<float>({transpose_b ? n : k, b_stride});
  const MatrixView<float> a{a_values.data(), a_stride, transpose_a};
  const MatrixView<float> b{b_values.data(), b_stride, transpose_b};
  auto c = random.normal_tensor<float>({m, n + 2});
  if (beta == 0.0F) c.fill(std::numeric_limits<float>::quiet_NaN());
  const Tensor<float> before = c.clone();
  bf16_product(m, n, k, 0.5F, a, b, beta, c.data(), n + 2);
  double worst = 0.0;
  Index changed_beyond = 0;
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      double sum = 0.0;
      for (Index p = 0; p < k; ++p) sum += rounded(*a.at(i, p).data) * rounded(*b.at(p, j).data);
      const double old = beta == 0.0F ? 0.0 : static_cast<double>(beta * before(i, j));
      const double error = std::abs(static_cast<double>(c(i, j)) - (0.5 * sum + old));
      if (!(error <= worst)) worst = error;
    }
    for (Index j = n; j < n + 2; ++j)
      changed_beyond += std::memcmp(&c(i, j), &before(i, j), sizeof(float)) != 0;
  }
  CHECK(worst <= 2e-6 * (1.0 + std::sqrt(static_cast<double>(k))));
  CHECK(changed_beyond == 0);
}

}  // namespace

TEST_CASE("bf16 product: agrees with the definition on rounded elements", "[autograd][bf16]") {
  // Several parts of 480 rows, 384 elements and 32 columns, and what is left beside them.
  const Index sizes[][3] = {{1, 1, 1},     {2, 3, 4},     {7, 5, 3},     {12, 32, 32},
                            {13, 33, 31},  {25, 16, 63},  {5, 1, 100},   {1, 70, 9},
                            {64, 64, 64},  {48, 31, 385}, {30, 65, 801}, {500, 40, 33},
                            {970, 17, 34}, {490, 70, 390}};
  with_and_without_emulation([&] {
    for (const auto& [m, n, k] : sizes)
      for (const bool transpose_a : {false, true})
        for (const bool transpose_b : {false, true})
          for (const float beta : {0.0F, 1.0F, -0.5F})
            check_product(m, n, k, transpose_a, transpose_b, beta);
  });
}

TEST_CASE("bf16 product: rounds to the nearest number, ties to even", "[autograd][bf16]") {
  with_and_without_emulation([] {
    const auto product = [](float x, float y) {
      float result = 0.0F;
      bf16_product(1, 1, 1, 1.0F, {&x, 1}, {&y, 1}, 0.0F, &result, 1);
      return result;
    };
    // 1 and its neighbours are 2⁻⁷ apart.
    CHECK(product(1.0F + 0x1p-8F, 1.0F) == 1.0F);
    CHECK(product(1.0F, 1.0F + 0x1.01p-8F) == 1.0F + 0x1p-7F);
    CHECK(product(1.0F + 0x3p-8F, 1.0F) == 1.0F + 0x1p-6F);
    CHECK(product(-1.0F - 0x3p-8F, 2.0F) == -2.0F - 0x1p-5F);
    CHECK(product(3.0F, 1.0F / 3.0F) == 3.0F * 0x1.56p-2F);
    CHECK(product(3.3e38F, 1.0F) == 0x1.Fp127F);
    CHECK(product(std::numeric_limits<float>::max(), 1.0F) ==
          std::numeric_limits<float>::infinity());
    CHECK(std::isnan(product(std::numeric_limits<float>::quiet_NaN(), 1.0F)));
    CHECK(std::isnan(product(std::numeric_limits<float>::infinity(), 0.0F)));
  });
}

TEST_CASE("bf16 product: with k = 0, the result is beta times the old matrix", "[autograd][bf16]") {
  with_and_without_emulation([] {
    Tensor<float> c({2, 2}, {1, 2, 3, 4});
    bf16_product(2, 2, 0, 1.0F, {nullptr, 1}, {nullptr, 1}, 2.0F, c.data(), 2);
    CHECK(c(1, 1) == 8.0F);
    bf16_product(2, 2, 0, 1.0F, {nullptr, 1}, {nullptr, 1}, 0.0F, c.data(), 2);
    CHECK(c(0, 0) == 0.0F);
  });
}

TEST_CASE("bf16 product: an element has the same bits whatever else is computed",
          "[autograd][bf16]") {
  // In parallel, the tiles are rows of the first one, and rows and columns of the second.
  Index m = 0, n = 0, k = 0;
  std::tie(m, n, k) = GENERATE(table<Index, Index, Index>({{700, 150, 500}, {100, 1500, 300}}));
  const Tiles tiles(Precision::bf16, m, n, k);
  if (is_supported(Precision::bf16)) {
    CHECK(tiles.rows > tiles.tile_rows);
    CHECK((tiles.columns > tiles.tile_columns) == (n == 1500));
  }
  Random random(3);
  const auto a = random.normal_tensor<float>({m, k}), b = random.normal_tensor<float>({k, n});
  with_and_without_emulation([&] {
    Tensor<float> all({m, n});
    bf16_product(m, n, k, 1.0F, {a.data(), k}, {b.data(), n}, 0.0F, all.data(), n);
    for (const auto& [i, j] : {std::pair<Index, Index>{0, 0}, {79, 31}, {81, 33}, {m - 1, n - 1}}) {
      float alone = 0.0F;
      bf16_product(1, 1, k, 1.0F, {a.data() + i * k, k}, {b.data() + j, n}, 0.0F, &alone, 1);
      CHECK(alone == all(i, j));
    }
    const auto tiled = [&] {
      Tensor<float> result({m, n});
      parallel_matrix_product(Precision::bf16, m, n, k, 1.0F, {a.data(), k}, {b.data(), n}, 0.0F,
                              result.data(), n);
      return std::vector{result};
    };
    CHECK(std::memcmp(tiled().front().data(), all.data(), all.values().size_bytes()) == 0);
    check_same_bits(tiled);
  });
}
