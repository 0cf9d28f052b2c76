#include "autograd/kernels/bf16_product.hpp"

#include <cstddef>
#include <vector>

#include "weft/autograd/parallel.hpp"
#include "weft/autograd/precision.hpp"
#include "autograd/internal/bf16_emulation.hpp"
#include "autograd/internal/bfloat16.hpp"
#include "autograd/kernels/bf16_avx512.hpp"
#include "autograd/kernels/blocked_product.hpp"

namespace weft {
namespace {

// Returns the rows × columns elements of a matrix, rounded to bf16.
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

// Returns whether the AVX512-BF16 instructions are used.
bool uses_instructions() { return is_supported(Precision::bf16) && !EmulateBf16::is_on(); }

// Returns memory for a product, which the thread keeps. It is on the heap, because a thread_local
// array would use up every thread's stack.
std::byte* workspace() {
  static thread_local const Buffer memory(static_cast<std::size_t>(avx512::workspace_bytes()));
  return static_cast<std::byte*>(memory.data());
}

// Returns memory that the thread keeps for its next matrix, unless another matrix uses it.
Buffer packed_memory(Index bytes) {
  static thread_local Buffer memory;
  static thread_local Index capacity = 0;
  if (bytes > capacity || memory.shared()) {
    memory = Buffer(static_cast<std::size_t>(bytes));
    capacity = bytes;
  }
  return memory;
}

}  // namespace

void bf16_product(Index m, Index n, Index k, float alpha, const MatrixView<float>& a,
                  const MatrixView<float>& b, float beta, float* c, Index c_stride) {
  if (uses_instructions())
    avx512::bf16_product(m, n, k, alpha, a, b, beta, c, c_stride, workspace());
  else
    emulated_product(m, n, k, alpha, a, b, beta, c, c_stride);
}

bool SharedBf16Matrix::is_shared(Index n, Index k) {
  // A larger matrix would no longer be in a cache when the tiles read it.
  constexpr Index max_bytes = 8 << 20;
  return uses_instructions() && avx512::packed_bytes(n, k) <= max_bytes;
}

SharedBf16Matrix::SharedBf16Matrix(Index n, Index k, const MatrixView<float>& b)
    : b_(b), columns_(n), k_(k) {
  if (!is_shared(n, k)) return;
  packed_ = packed_memory(avx512::packed_bytes(n, k));
  parallel_for(avx512::packed_parts(n, k), 1, [&](Index first, Index last) {
    for (Index part = first; part < last; ++part) avx512::pack(n, k, b, part, packed_.data());
  });
}

void SharedBf16Matrix::product(Index m, Index n, float alpha, const MatrixView<float>& a,
                               Index first, float beta, float* c, Index c_stride) const {
  if (packed_.data())
    avx512::bf16_product(m, n, k_, alpha, a, packed_.data(), columns_, first, beta, c, c_stride,
                         workspace());
  else
    bf16_product(m, n, k_, alpha, a, b_.at(0, first), beta, c, c_stride);
}

}  // namespace weft
