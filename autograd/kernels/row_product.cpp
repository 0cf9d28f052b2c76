#include "autograd/kernels/row_product.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "autograd/internal/bfloat16.hpp"
#include "autograd/kernels/vector.hpp"

// y is computed in blocks of a few rows of x and of w, whose sums stay in registers over the loop
// along k. Each vector of w is loaded once for all rows of a block, and w's rows are read in the
// order of memory.

namespace weft {
namespace {

#if defined(__AVX512F__)
constexpr Index max_sums = 16;  // largest number of vectors in a block
#else
constexpr Index max_sums = 8;
#endif
constexpr Index max_rows = 8;       // largest number of rows of x
constexpr Index max_rows_of_w = 8;  // just enough to keep the processor's adders busy
// If rows of w are at least this long, w is assumed to be in main memory rather than in the caches.
// With more than two rows of x, or when 16-bit numbers are converted, a block computes so much that
// the processor does not read ahead by itself.
constexpr Index prefetched_k = 512;

// Returns the number of rows of w in a block with `rows` rows of x.
constexpr Index rows_of_w(Index rows) {
  return std::clamp<Index>(max_sums / rows, 1, max_rows_of_w);
}

template <class T, class W>
struct Block {
  Index k;
  T alpha;
  const T* x;
  Index x_stride;
  const W* w;
  Index w_stride;
  T* y;
  Index y_stride;
};

// Reads as many numbers from memory as a vector has lanes; 16-bit numbers are bf16.
template <class T>
Vector<T> load_as(const T* from) {
  return load(from);
}
// Reads `half` bytes of 16-bit numbers, each into the upper half of 32 bits.
template <Index half>
auto upper_halves(const std::uint16_t* from) {
#if defined(__AVX512F__)
  // GCC would divide the conversion into five instructions.
  if constexpr (half == 32)
    return _mm512_slli_epi32(_mm512_cvtepu16_epi32(std::bit_cast<__m256i>(load<half>(from))), 16);
  else
#endif
    return __builtin_convertvector(load<half>(from), Vector<std::uint32_t, 2 * half>) << 16;
}
template <class T>
Vector<T> load_as(const std::uint16_t* from) {
  constexpr Index half = lanes<T> * 2, single = lanes<T> * 4;
  const auto floats = std::bit_cast<Vector<float, single>>(upper_halves<half>(from));
  if constexpr (std::is_same_v<T, float>)
    return floats;
  else
    return __builtin_convertvector(floats, Vector<T>);
}

// Returns those lanes of `a`, and then of `b`, that are in the lower or the upper half of their
// segment. Each vector consists of segments of `size` lanes.
template <Index size, bool upper, class V, Index... lane>
V halves(const V& a, const V& b, std::integer_sequence<Index, lane...>) {
  constexpr auto from = [](Index to) { return to / (size / 2) * size + to % (size / 2); };
  constexpr Index shift = upper ? size / 2 : 0;
  return shuffle<(from(lane) + shift)...>(a, b);
}

// Adds up the lanes of each of `count` vectors, half by half. Lane i of the result is the sum of
// vector i; further lanes contain sums again. In each step, two vectors become one with segments of
// half the size. The bits do not depend on the number of vectors. Inlined, so that the sums stay in
// registers.
template <Index size, Index count, class T>
[[gnu::always_inline]] inline Vector<T> sums_of_lanes(const Vector<T>* vectors) {
  if constexpr (size == 1) {
    return vectors[0];
  } else {
    constexpr Index pairs = (count + 1) / 2;
    constexpr auto all = std::make_integer_sequence<Index, lanes<T>>();
    Vector<T> added[pairs];
    for (Index i = 0; i < pairs; ++i) {
      const Vector<T>&a = vectors[2 * i], &b = vectors[std::min(2 * i + 1, count - 1)];
      added[i] = halves<size, false>(a, b, all) + halves<size, true>(a, b, all);
    }
    return sums_of_lanes<size / 2, pairs, T>(added);
  }
}

// Returns an element of w.
template <class T, class W>
T element(W value) {
  if constexpr (std::is_same_v<W, std::uint16_t>)
    return static_cast<T>(float_of_bfloat16(value));
  else
    return value;
}

// Returns a · b + c, rounded once if the processor has an instruction for it. If the choice were
// left to the compiler, it would depend on the surrounding function.
template <class T>
T multiply_add(T a, T b, T c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

template <Index rows, Index w_rows, bool prefetch, class T, class W>
void block_product(const Block<T, W>& block) {
  constexpr Index count = rows * w_rows;
  constexpr Index groups = (count + lanes<T> - 1) / lanes<T>;
  constexpr Index group = std::min(count, lanes<T>);
  Vector<T> sums[groups * group] = {};
  const auto [k, alpha, x, x_stride, w, w_stride, y, y_stride] = block;
  Index p = 0;
  for (; p + lanes<T> <= k; p += lanes<T>) {
    Vector<T> w_parts[w_rows];
    for (Index j = 0; j < w_rows; ++j) {
      w_parts[j] = load_as<T>(w + j * w_stride + p);
      if constexpr (prefetch) __builtin_prefetch(w + (j + w_rows) * w_stride + p);  // next block
    }
    for (Index i = 0; i < rows; ++i) {
      const Vector<T> x_part = load(x + i * x_stride + p);
      for (Index j = 0; j < w_rows; ++j) sums[i * w_rows + j] += x_part * w_parts[j];
    }
  }
  alignas(vector_bytes) T totals[groups * lanes<T>];
  for (Index g = 0; g < groups; ++g)
    store<T>(sums_of_lanes<lanes<T>, group, T>(sums + g * lanes<T>), totals + g * lanes<T>);
  if (p < k)
    for (Index s = 0; s < count; ++s)
      for (Index rest = p; rest < k; ++rest)
        totals[s] = multiply_add(x[s / w_rows * x_stride + rest],
                                 element<T>(w[s % w_rows * w_stride + rest]), totals[s]);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < w_rows; ++j) y[i * y_stride + j] = alpha * totals[i * w_rows + j];
}

// Computes all columns of y for `rows` rows of x.
template <Index rows, bool prefetch, class T, class W>
void rows_product(Index n, const Block<T, W>& all) {
  constexpr Index w_rows = rows_of_w(rows);
  Block<T, W> block = all;
  const auto advance = [&](Index count) {
    n -= count;
    block.w += count * block.w_stride;
    block.y += count;
  };
  while (n >= w_rows) {
    block_product<rows, w_rows, prefetch>(block);
    advance(w_rows);
  }
  while (n > 0) {
    block_product<rows, 1, prefetch>(block);
    advance(1);
  }
}

template <class T, class W>
using RowsProduct = void (*)(Index n, const Block<T, W>&);

// Computes rows_product for 1 to max_rows rows.
template <bool prefetch, class T, class W>
constexpr auto rows_products = []<Index... i>(std::integer_sequence<Index, i...>) {
  return std::array<RowsProduct<T, W>, max_rows>{
      rows_product < i + 1, prefetch && (i > 1 || sizeof(W) < sizeof(T)), T, W > ...};
}
(std::make_integer_sequence<Index, max_rows>{});

}  // namespace

template <class T, class W>
void row_product(Index m, Index n, Index k, T alpha, const T* x, Index x_stride, const W* w,
                 Index w_stride, T* y, Index y_stride) {
  for (Index i = 0; i < m; i += max_rows) {
    const auto rows = static_cast<std::size_t>(std::min(max_rows, m - i));
    const auto& products =
        k < prefetched_k ? rows_products<false, T, W> : rows_products<true, T, W>;
    products[rows - 1](
        n, {k, alpha, x + i * x_stride, x_stride, w, w_stride, y + i * y_stride, y_stride});
  }
}

template void row_product(Index, Index, Index, float, const float*, Index, const float*, Index,
                          float*, Index);
template void row_product(Index, Index, Index, double, const double*, Index, const double*, Index,
                          double*, Index);
template void row_product(Index, Index, Index, float, const float*, Index, const std::uint16_t*,
                          Index, float*, Index);
template void row_product(Index, Index, Index, double, const double*, Index, const std::uint16_t*,
                          Index, double*, Index);

}  // namespace weft
