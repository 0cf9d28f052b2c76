#include "autograd/kernels/bf16_product.hpp"

#include <algorithm>
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
#include "autograd/kernels/library_product.hpp"
#include "autograd/kernels/matrix_product.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"

using namespace weft;

namespace {

// Runs `check` with emulation and, if the library has them, with the processor's bf16 instructions.
template <class Check>
void with_and_without_emulation(const Check& check) {
  {
    INFO("emulated");
    const EmulateBf16 emulation;
    check();
  }
  if (has_bf16_product())
    check();
  else
    WARN("there are no bf16 instructions: they are not tested");
}

double rounded(float x) { return static_cast<double>(float_of_bfloat16(bfloat16_of(x))); }

struct Case {
  Index m, n, k;
  bool transpose_a, transpose_b;
  float alpha, beta;
  Index padding;            // additional columns of c, which must not change
  Index tiles = 1;          // rows and columns of tiles
  bool in_16_bits = false;  // whether bf16 numbers of b are given
};

// A product in tiles against sums in double.
void check_product(const Case& tested) {
  const auto& [m, n, k, transpose_a, transpose_b, alpha, beta, padding, tiles, in_16_bits] = tested;
  INFO("m " << m << " n " << n << " k " << k << " transposed " << transpose_a << transpose_b
            << " alpha " << alpha << " beta " << beta << " padding " << padding << " tiles "
            << tiles << " in 16 bits " << in_16_bits);
  Random random(static_cast<std::uint64_t>(m * 10000 + n * 100 + k));
  const Index a_stride = (transpose_a ? m : k) + 3, b_stride = (transpose_b ? k : n) + 1;
  const auto a_values = random.normal_tensor<float>({transpose_a ? k : m, a_stride});
  auto b_values = random.normal_tensor<float>({transpose_b ? n : k, b_stride});
  if (in_16_bits) b_values = b_values.rounded_to_bf16();
  const MatrixView<float> a{a_values.data(), a_stride, transpose_a};
  const MatrixView<float> b{std::as_const(b_values).data(), b_stride, transpose_b, b_values.bf16()};
  auto c = random.normal_tensor<float>({m, n + padding});
  if (beta == 0.0F) c.fill(std::numeric_limits<float>::quiet_NaN());
  const Tensor<float> before = c.clone();
  const Index rows = (m + tiles - 1) / tiles, columns = (n + tiles - 1) / tiles;
  const Bf16Product product(m, n, k, alpha, a, b, beta, rows, columns);
  for (Index i = 0; i < m; i += rows)
    for (Index j = 0; j < n; j += columns)
      product.compute(i, std::min(i + rows, m), j, std::min(j + columns, n),
                      c.data() + i * (n + padding) + j, n + padding);
  double worst = 0.0;
  Index changed_beyond = 0;
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      double sum = 0.0;
      for (Index p = 0; p < k; ++p) sum += rounded(*a.at(i, p).data) * rounded(*b.at(p, j).data);
      const double old = beta == 0.0F ? 0.0 : static_cast<double>(beta * before(i, j));
      const double error =
          std::abs(static_cast<double>(c(i, j)) - (static_cast<double>(alpha) * sum + old));
      if (!(error <= worst)) worst = error;
    }
    for (Index j = n; j < n + padding; ++j)
      changed_beyond += std::memcmp(&c(i, j), &before(i, j), sizeof(float)) != 0;
  }
  CHECK(worst <= 6e-6 * (1.0 + std::sqrt(static_cast<double>(k))));
  CHECK(changed_beyond == 0);
}

}  // namespace

TEST_CASE("bf16 product: agrees with the definition on rounded elements", "[autograd][bf16]") {
  const Index sizes[][3] = {{1, 1, 1},     {2, 3, 4},     {13, 33, 31},  {5, 1, 100},
                            {1, 70, 9},    {64, 64, 64},  {48, 31, 385}, {30, 65, 801},
                            {970, 17, 34}, {490, 70, 390}};
  with_and_without_emulation([&] {
    for (const auto& [m, n, k] : sizes)
      for (const bool transpose_a : {false, true})
        for (const bool transpose_b : {false, true})
          for (const float beta : {0.0F, 1.0F, -0.5F}) {
            check_product({m, n, k, transpose_a, transpose_b, 0.5F, beta, 2});
            // A contiguous c, to which the library adds, and in tiles.
            check_product({m, n, k, transpose_a, transpose_b, 1.0F, beta, 0});
            check_product({m, n, k, transpose_a, transpose_b, 1.0F, beta, 0, 3});
          }
  });
}

TEST_CASE("bf16 product: reads weights that are stored in 16 bits", "[autograd][bf16]") {
  with_and_without_emulation([&] {
    for (const bool transpose_b : {false, true})
      for (const Index tiles : {1, 3})
        check_product({70, 90, 50, false, transpose_b, 1, 0, 0, tiles, true});
  });
}

TEST_CASE("bf16 product: matrices that are too large to be converted at once", "[autograd][bf16]") {
  with_and_without_emulation([&] {
    for (const bool transposed : {false, true}) {
      check_product({33, 2100, 2100, transposed, transposed, 1, 0, 0, 2});
      check_product({2100, 33, 2100, transposed, transposed, 1, 0, 0, 2});
    }
  });
}

TEST_CASE("bf16 product: rounds to the nearest number, ties to even", "[autograd][bf16]") {
  with_and_without_emulation([] {
    const auto product = [](float x, float y) {
      float result = 0.0F;
      Bf16Product(1, 1, 1, 1.0F, {&x, 1}, {&y, 1}, 0.0F, 1, 1).compute(0, 1, 0, 1, &result, 1);
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
    const auto multiply = [&](float beta) {
      Bf16Product(2, 2, 0, 1.0F, {nullptr, 1}, {nullptr, 1}, beta, 2, 2)
          .compute(0, 2, 0, 2, c.data(), 2);
    };
    multiply(2.0F);
    CHECK(c(1, 1) == 8.0F);
    multiply(0.0F);
    CHECK(c(0, 0) == 0.0F);
  });
}

TEST_CASE("bf16 product: has the same bits on any number of threads", "[autograd][bf16]") {
  // Tiles of rows, and of columns.
  Index m = 0, n = 0, k = 0;
  std::tie(m, n, k) = GENERATE(table<Index, Index, Index>({{700, 150, 500}, {100, 1500, 300}}));
  const Tiles tiles(ProductKernel::bf16, m, n, k);
  CHECK(tiles.count() > 1);
  CHECK((tiles.columns > tiles.tile_columns) == (n == 1500));
  Random random(3);
  const auto a = random.normal_tensor<float>({m, k}), b = random.normal_tensor<float>({k, n});
  with_and_without_emulation([&] {
    check_same_bits([&] {
      Tensor<float> result({m, n});
      parallel_matrix_product(Precision::bf16, m, n, k, 1.0F, {a.data(), k}, {b.data(), n}, 0.0F,
                              result.data(), n);
      return std::vector{result};
    });
  });
}
