#include "autograd/kernels/bf16_product.hpp"

#include <vector>

#include "autograd/internal/bf16_emulation.hpp"
#include "autograd/internal/bfloat16.hpp"
#include "autograd/kernels/bf16_avx512.hpp"
#include "autograd/kernels/blocked_product.hpp"

namespace weft {
namespace {

// The rows × columns elements of a matrix, rounded.
std::vector<float> rounded(const MatrixView<float>& matrix, Index rows, Index columns) {
  std::vector<float> copy;
  copy.reserve(static_cast<std::size_t>(rows * columns));
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j)
      copy.push_back(float_of_bfloat16(bfloat16_of(*matrix.at(i, j).data)));
  return copy;
}

void emulated_product(Index m, Index n, Index k, float alpha, const MatrixView<float>& a,
                      const MatrixView<float>& b, float beta, float* c, Index c_stride) {
  const std::vector<float> rounded_a = rounded(a, m, k), rounded_b = rounded(b, k, n);
  blocked_product(m, n, k, alpha, {rounded_a.data(), k}, {rounded_b.data(), n}, beta, c, c_stride);
}

}  // namespace

void bf16_product(Index m, Index n, Index k, float alpha, const MatrixView<float>& a,
                  const MatrixView<float>& b, float beta, float* c, Index c_stride) {
#ifdef WEFT_HAS_AVX512_BF16
  if (!EmulateBf16::is_on()) return avx512::bf16_product(m, n, k, alpha, a, b, beta, c, c_stride);
#endif
  emulated_product(m, n, k, alpha, a, b, beta, c, c_stride);
}

}  // namespace weft
