#include "tests/benchmarks/products.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <weft/autograd/random.hpp>
#include <weft/autograd/tensor.hpp>
#include "autograd/kernels/blocked_product.hpp"
#include "autograd/kernels/library_product.hpp"
#include "autograd/kernels/matrix_product.hpp"
#include "autograd/kernels/row_product.hpp"
#include "tests/benchmarks/measure.hpp"

namespace weft::benchmarks {
namespace {

struct Sizes {
  const char* used_by;
  Index m, n, k;
};

// y [m, n] = x [m, k] wᵀ for w [n, k], as in a linear layer.
struct Operands {
  explicit Operands(const Sizes& sizes)
      : x(Random(1).normal_tensor<float>({sizes.m, sizes.k})),
        w(Random(2).normal_tensor<float>({sizes.n, sizes.k})),
        y({sizes.m, sizes.n}) {}

  Tensor<float> x, w, y;
};

// The two are measured in turn, several times.
template <class Product>
void print_row(const char* kernel, const Sizes& sizes, double seconds, const Product& product) {
  const Index m = sizes.m, n = sizes.n, k = sizes.k;
  Operands o(sizes);
  const MatrixView<float> x{o.x.data(), k}, w{o.w.data(), k, true};
  float* const y = o.y.data();
  constexpr int rounds = 5;
  std::vector<double> ours, library, ratios;
  for (int round = 0; round < rounds; ++round) {
    ours.push_back(median_seconds(seconds / rounds, [&] { product(m, n, k, x, w, y); }));
    library.push_back(median_seconds(seconds / rounds,
                                     [&] { library_product(m, n, k, 1.0F, x, w, 0.0F, y, n); }));
    ratios.push_back(library.back() / ours.back());
  }
  const auto median = [](std::vector<double>& values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
  };
  const double flops =
      2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  std::printf("%-16s %5ld %5ld %5ld  %-34s %8.1f %8.1f %6.2f\n", kernel, m, n, k, sizes.used_by,
              1e-9 * flops / median(ours), 1e-9 * flops / median(library), median(ratios));
}

}  // namespace

void print_products(double seconds) {
  std::printf("%-16s %5s %5s %5s  %-34s %8s %8s %6s\n", "kernel", "m", "n", "k", "", "GFLOP/s",
              matrix_product_library(), "ratio");
  for (const Sizes& sizes : {Sizes{"a token, 4 blocks of 128", 1, 512, 128},
                             {"a token, GPT-2", 1, 2304, 768},
                             {"4 sequences, GPT-2", 4, 2304, 768},
                             {"8 sequences, GPT-2", 8, 2304, 768},
                             {"16 sequences, GPT-2", 16, 2304, 768}})
    print_row("row_product", sizes, seconds,
              [](Index m, Index n, Index k, const MatrixView<float>& x, const MatrixView<float>& w,
                 float* y) { row_product(m, n, k, 1.0F, x.data, k, w.data, k, y, n); });
  for (const Sizes& sizes : {Sizes{"17 rows", 17, 128, 128},
                             {"W1, a head", 64, 64, 64},
                             {"W5, a tile", 168, 128, 64},
                             {"W2, a tile", 192, 128, 128},
                             {"the largest", 160, 160, 160},
                             {"k is long", 64, 64, 1024}})
    print_row("blocked_product", sizes, seconds,
              [](Index m, Index n, Index k, const MatrixView<float>& x, const MatrixView<float>& w,
                 float* y) { blocked_product(m, n, k, 1.0F, x, w, 0.0F, y, n); });
  if (has_bf16_product())
    for (const Sizes& sizes : {Sizes{"W1, a head", 64, 64, 64},
                               {"W2, a tile", 192, 128, 128},
                               {"W3, a tile", 512, 768, 768},
                               {"W4, a tile", 512, 3072, 768}})
      print_row("Bf16Product", sizes, seconds,
                [](Index m, Index n, Index k, const MatrixView<float>& x,
                   const MatrixView<float>& w, float* y) {
                  matrix_product_by(ProductKernel::bf16, m, n, k, 1.0F, x, w, 0.0F, y, n);
                });
}

}  // namespace weft::benchmarks
