#include "autograd/kernels/bf16_product.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "weft/autograd/parallel.hpp"
#include "autograd/internal/bf16_emulation.hpp"
#include "autograd/internal/bfloat16.hpp"
#include "autograd/kernels/library_product.hpp"

namespace weft {
namespace {

// The memory that a thread keeps for its products. A product of its own does not begin before the
// tiles of another one end.
enum Memory { converted_a, converted_b, block_a, block_b, block_c, memories };

Buffer thread_memory(int memory, std::size_t bytes) {
  struct Kept {
    Buffer buffer;
    std::size_t bytes = 0;
  };
  static thread_local std::array<Kept, memories> all;
  Kept& kept = all[static_cast<std::size_t>(memory)];
  if (bytes > kept.bytes) kept = {Buffer(bytes), bytes};
  return kept.buffer;
}

// Computes dense_product on floats of the same values.
void emulated_product(Index m, Index n, Index k, const DenseMatrix<std::uint16_t>& a,
                      const DenseMatrix<std::uint16_t>& b, bool is_added, float* c) {
  const auto floats = [](const std::uint16_t* from, Index size) {
    std::vector<float> result(static_cast<std::size_t>(size));
    std::transform(from, from + size, result.begin(), float_of_bfloat16);
    return result;
  };
  const std::vector<float> a_floats = floats(a.data, m * k), b_floats = floats(b.data, k * n);
  dense_product<float>(m, n, k, {a_floats.data(), a.transposed}, {b_floats.data(), b.transposed},
                       is_added, c);
}

}  // namespace

bool prefers_bf16_product(Index m, Index n, Index k) {
  if (EmulateBf16::is_on()) return true;
  // For smaller products, converting the matrices and calling the library would take most of the
  // time.
  constexpr Index min_k = 32, min_work = Index{1} << 19;
  const bool is_large = m * n >= 32 * (m + n) && k >= min_k && m * n * k >= min_work;
  return is_large && has_bf16_product();
}

Bf16Product::Bf16Product(Index m, Index n, Index k, float alpha, const MatrixView<float>& a,
                         const MatrixView<float>& b, float beta, Index tile_rows,
                         Index tile_columns)
    : k_(k),
      alpha_(alpha),
      beta_(beta),
      a_(m, k, a, tile_rows, converted_a),
      b_(n, k, b.transpose(), tile_columns, converted_b) {}

Bf16Product::Operand::Operand(Index rows, Index k, const MatrixView<float>& matrix,
                              Index block_rows, int memory)
    : k_(k), matrix_(matrix) {
  if (!matrix.bf16 && matrix.tensor) matrix_.bf16 = matrix.tensor->rounded_to_bf16().bf16();
  // A larger matrix would no longer be in a cache when the tiles read it.
  constexpr std::size_t max_bytes = 8 << 20;
  const std::size_t bytes = static_cast<std::size_t>(rows * k) * sizeof(std::uint16_t);
  const bool is_contiguous = !matrix.transposed || block_rows >= rows;
  if ((matrix_.bf16 && is_contiguous) || bytes > max_bytes) return;
  converted_ = thread_memory(memory, bytes);
  auto* const to = static_cast<std::uint16_t*>(converted_.data());
  // A line is a row of the memory.
  const Index lines = matrix.transposed ? k : rows, length = matrix.transposed ? rows : k;
  const Index part = matrix.transposed ? block_rows : k;
  parallel_for(lines, grain_of(length / 4), [&](Index first, Index last) {
    for (Index line = first; line < last; ++line)
      for (Index begin = 0; begin < length; begin += part) {
        const Index size = std::min(part, length - begin), from = line * matrix.stride + begin;
        std::uint16_t* const numbers = to + begin * lines + line * size;
        if (matrix_.bf16)
          std::copy_n(matrix_.bf16 + from, size, numbers);
        else
          round_to_bfloat16(size, matrix.data + from, numbers);
      }
  });
}

const std::uint16_t* Bf16Product::Operand::block(Index begin, Index end, int memory) const {
  if (converted_.data()) return static_cast<const std::uint16_t*>(converted_.data()) + begin * k_;
  const MatrixView<float> from = matrix_.at(begin, 0);
  const Index rows = end - begin;
  const Index lines = from.transposed ? k_ : rows, length = from.transposed ? rows : k_;
  if (from.bf16 && from.stride == length) return from.bf16;
  const Buffer copy =
      thread_memory(memory, static_cast<std::size_t>(rows * k_) * sizeof(std::uint16_t));
  auto* const to = static_cast<std::uint16_t*>(copy.data());
  for (Index line = 0; line < lines; ++line)
    if (from.bf16)
      std::copy_n(from.bf16 + line * from.stride, length, to + line * length);
    else
      round_to_bfloat16(length, from.data + line * from.stride, to + line * length);
  return to;
}

void Bf16Product::compute(Index i0, Index i1, Index j0, Index j1, float* c, Index c_stride) const {
  const Index m = i1 - i0, n = j1 - j0;
  if (m == 0 || n == 0) return;
  // The library computes contiguous matrices.
  const bool is_direct =
      k_ > 0 && c_stride == n && alpha_ == 1.0F && (beta_ == 0.0F || beta_ == 1.0F);
  Buffer memory;
  float* product = c;
  if (!is_direct) {
    memory = thread_memory(block_c, static_cast<std::size_t>(m * n) * sizeof(float));
    product = static_cast<float*>(memory.data());
  }
  if (k_ == 0) {
    std::fill_n(product, m * n, 0.0F);
  } else {
    const DenseMatrix<std::uint16_t> a{a_.block(i0, i1, block_a), a_.transposed()},
        b{b_.block(j0, j1, block_b), !b_.transposed()};
    const auto multiply = EmulateBf16::is_on() ? emulated_product : dense_product<std::uint16_t>;
    multiply(m, n, k_, a, b, is_direct && beta_ == 1.0F, product);
  }
  if (is_direct) return;
  for (Index i = 0; i < m; ++i, product += n, c += c_stride)
    if (beta_ == 0.0F)
      for (Index j = 0; j < n; ++j) c[j] = alpha_ * product[j];
    else
      for (Index j = 0; j < n; ++j) c[j] = alpha_ * product[j] + beta_ * c[j];
}

}  // namespace weft
