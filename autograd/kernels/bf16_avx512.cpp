// Compiled with the flags for AVX512-BF16 in every build. Only templates and functions of this file
// are used, so that no code for this processor replaces the same inline function elsewhere.
#include "autograd/kernels/bf16_avx512.hpp"

#ifdef __AVX512BF16__

#include <immintrin.h>

// Loops are unrolled so that constant indices keep arrays in registers.
//
// c is computed in blocks of up to 12 rows and two vectors of columns, whose sums stay in registers
// over the loop along k. One instruction multiplies a pair of elements of a row of a by pairs of
// elements of 16 columns of b, and adds the products. Both a and b are packed as pairs and rounded
// to bf16 in the same step. A part of a stays in the L2 cache, and panels of b, as wide as a block,
// stay in the L1 cache.

namespace weft::avx512 {
namespace {

using Pair = int;  // two bf16 numbers; the lower half has the lower index

constexpr Index lanes = 16;
constexpr Index block_rows = 12;
constexpr Index panel_columns = 2 * lanes;
constexpr Index max_depth = 384;  // elements along k that are packed at a time
constexpr Index max_pairs = max_depth / 2;
constexpr Index max_packed_rows = 768;     // rows of a
constexpr Index max_packed_columns = 256;  // columns of b
constexpr Index part_columns = 128;        // columns of a part of a packed matrix
constexpr Index panel_size = max_pairs * panel_columns;
// The size of packed a, rounded up because packing writes whole squares of pairs.
constexpr Index packed_a_size = (max_packed_rows + lanes) * max_pairs;
constexpr Index packed_b_size = max_packed_columns * max_pairs;

constexpr Index least(Index x, Index y) { return x < y ? x : y; }

// Returns the mask of the first `count` of 16 lanes; no lanes for a negative count.
__mmask16 first_lanes(Index count) {
  if (count >= lanes) return 0xFFFF;
  return static_cast<__mmask16>(count <= 0 ? 0 : (1 << count) - 1);
}

// Returns two vectors as one vector of bf16 numbers, rounded to nearest even, with `low` first.
__m512i rounded(__m512 low, __m512 high) { return (__m512i)_mm512_cvtne2ps_pbh(high, low); }

// Returns pairs of the numbers with the same index in two rows.
__m512i interleaved(__m512 first, __m512 second) {
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24,
                                         8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(order, rounded(first, second));
}

// 16 × 16 pairs in registers.
struct Square {
  __m512i rows[lanes];
};

void transpose(Square& square) {
  __m512i* const rows = square.rows;
  __m512i other[lanes];
#pragma GCC unroll 16
  for (int i = 0; i < lanes; i += 2) {
    other[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    other[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < lanes; i += 4) {
    rows[i] = _mm512_unpacklo_epi64(other[i], other[i + 2]);
    rows[i + 1] = _mm512_unpackhi_epi64(other[i], other[i + 2]);
    rows[i + 2] = _mm512_unpacklo_epi64(other[i + 1], other[i + 3]);
    rows[i + 3] = _mm512_unpackhi_epi64(other[i + 1], other[i + 3]);
  }
  // Each vector holds one column of four rows in each quarter.
#pragma GCC unroll 16
  for (int i = 0; i < 4; ++i) {
    const __m512i even_low = _mm512_shuffle_i32x4(rows[i], rows[i + 4], 0x88);
    const __m512i odd_low = _mm512_shuffle_i32x4(rows[i], rows[i + 4], 0xDD);
    const __m512i even_high = _mm512_shuffle_i32x4(rows[i + 8], rows[i + 12], 0x88);
    const __m512i odd_high = _mm512_shuffle_i32x4(rows[i + 8], rows[i + 12], 0xDD);
    other[i] = _mm512_shuffle_i32x4(even_low, even_high, 0x88);
    other[i + 8] = _mm512_shuffle_i32x4(even_low, even_high, 0xDD);
    other[i + 4] = _mm512_shuffle_i32x4(odd_low, odd_high, 0x88);
    other[i + 12] = _mm512_shuffle_i32x4(odd_low, odd_high, 0xDD);
  }
#pragma GCC unroll 16
  for (int i = 0; i < lanes; ++i) rows[i] = other[i];
}

// Returns 16 pairs from `depth` consecutive numbers, padded with zeros.
__m512i read_pairs(const float* from, Index depth) {
  return rounded(_mm512_maskz_loadu_ps(first_lanes(depth), from),
                 _mm512_maskz_loadu_ps(first_lanes(depth - lanes), from + lanes));
}

// Returns 16 pairs, each of numbers from two rows. Only `depth` of the rows exist; missing rows are
// zeros.
__m512i read_pairs_of_rows(const float* from, Index stride, Index depth, Index columns) {
  const __mmask16 mask = first_lanes(columns);
  return interleaved(_mm512_maskz_loadu_ps(depth > 0 ? mask : 0, from),
                     _mm512_maskz_loadu_ps(depth > 1 ? mask : 0, from + (depth > 1 ? stride : 0)));
}

// Packs rows of a, each with a stride of max_pairs. Copies may follow the last rows.
void pack_a(const MatrixView<float>& a, Index rows, Index depth, Pair* packed) {
  if (!a.transposed) {
    for (Index i = 0; i < rows; ++i) {
      const float* from = a.data + i * a.stride;
      Pair* to = packed + i * max_pairs;
      Index p = 0;
      for (; p + 2 * lanes <= depth; p += 2 * lanes)
        _mm512_storeu_si512(to + p / 2,
                            rounded(_mm512_loadu_ps(from + p), _mm512_loadu_ps(from + p + lanes)));
      if (p < depth) _mm512_storeu_si512(to + p / 2, read_pairs(from + p, depth - p));
    }
    return;
  }
  for (Index p = 0; p < depth; p += 2 * lanes)
    for (Index i = 0; i < rows; i += lanes) {
      const float* from = a.data + p * a.stride + i;
      Square square;
      if (p + 2 * lanes <= depth && i + lanes <= rows) {
#pragma GCC unroll 16
        for (Index q = 0; q < lanes; ++q)
          square.rows[q] = interleaved(_mm512_loadu_ps(from + 2 * q * a.stride),
                                       _mm512_loadu_ps(from + (2 * q + 1) * a.stride));
      } else {
        for (Index q = 0; q < lanes; ++q) {
          const Index left = depth - p - 2 * q;
          square.rows[q] = read_pairs_of_rows(from + (left > 0 ? 2 * q * a.stride : 0), a.stride,
                                              left, rows - i);
        }
      }
      transpose(square);
      Pair* to = packed + i * max_pairs + p / 2;
#pragma GCC unroll 16
      for (int r = 0; r < lanes; ++r) _mm512_storeu_si512(to + r * max_pairs, square.rows[r]);
    }
}

// Packs columns of b as panels of 32 columns. For each pair along k, a panel contains the pairs of
// its columns.
void pack_b(const MatrixView<float>& b, Index columns, Index depth, Pair* packed) {
  if (!b.transposed) {
    // In the order of memory, so that the processor reads ahead.
    for (Index p = 0; p < depth; p += 2) {
      const float* from = b.data + p * b.stride;
      Pair* to = packed + p / 2 * panel_columns;
      Index j = 0;
      if (p + 2 <= depth)
        for (; j + panel_columns <= columns; j += panel_columns, to += panel_size)
          for (Index half = 0; half < panel_columns; half += lanes)
            _mm512_store_si512(to + half, interleaved(_mm512_loadu_ps(from + j + half),
                                                      _mm512_loadu_ps(from + b.stride + j + half)));
      for (; j < columns; j += panel_columns, to += panel_size)
        for (Index half = 0; half < panel_columns; half += lanes)
          _mm512_store_si512(to + half, read_pairs_of_rows(from + j + half, b.stride, depth - p,
                                                           columns - j - half));
    }
    return;
  }
  for (Index j = 0; j < columns; j += lanes)
    for (Index p = 0; p < depth; p += 2 * lanes) {
      const float* from = b.data + j * b.stride + p;
      Square square;
      if (p + 2 * lanes <= depth && j + lanes <= columns) {
#pragma GCC unroll 16
        for (int r = 0; r < lanes; ++r)
          square.rows[r] = rounded(_mm512_loadu_ps(from + r * b.stride),
                                   _mm512_loadu_ps(from + r * b.stride + lanes));
      } else {
        for (Index r = 0; r < lanes; ++r)
          square.rows[r] = read_pairs(from + least(r, columns - j - 1) * b.stride, depth - p);
      }
      transpose(square);
      Pair* to =
          packed + j / panel_columns * panel_size + p / 2 * panel_columns + j % panel_columns;
#pragma GCC unroll 16
      for (int q = 0; q < lanes; ++q) _mm512_store_si512(to + q * panel_columns, square.rows[q]);
    }
}

struct Block {
  Index pairs;
  const Pair* a;
  const Pair* b;
  float alpha, beta;
  float* c;
  Index c_stride;
  __mmask16 masks[2];  // masks of the columns
};

template <int rows>
void block_product(const Block& block) {
  __m512 sums[rows][2];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) sums[r][0] = sums[r][1] = _mm512_setzero_ps();
  const Pair* b = block.b;
  const Pair* a = block.a;
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
    _mm_prefetch(reinterpret_cast<const char*>(block.c + r * block.c_stride), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(block.c + r * block.c_stride + lanes), _MM_HINT_T0);
  }
  for (Index p = 0; p < block.pairs; ++p, b += panel_columns, ++a) {
    const __m512bh b0 = (__m512bh)_mm512_load_si512(b);
    const __m512bh b1 = (__m512bh)_mm512_load_si512(b + lanes);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      // Clang 16 and 17 crash where this is _mm512_set1_epi32.
      const __m512bh factor =
          (__m512bh)_mm512_broadcastd_epi32(_mm_cvtsi32_si128(a[r * max_pairs]));
      sums[r][0] = _mm512_dpbf16_ps(sums[r][0], factor, b0);
      sums[r][1] = _mm512_dpbf16_ps(sums[r][1], factor, b1);
    }
  }
  const __m512 alpha = _mm512_set1_ps(block.alpha), beta = _mm512_set1_ps(block.beta);
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < 2; ++v) {
      float* to = block.c + r * block.c_stride + v * lanes;
      __m512 result = _mm512_mul_ps(alpha, sums[r][v]);
      if (block.beta != 0.0f)
        result = _mm512_fmadd_ps(beta, _mm512_maskz_loadu_ps(block.masks[v], to), result);
      _mm512_mask_storeu_ps(to, block.masks[v], result);
    }
}

using BlockProduct = void (*)(const Block&);
constexpr BlockProduct block_products[block_rows] = {
    block_product<1>, block_product<2>,  block_product<3>,  block_product<4>,
    block_product<5>, block_product<6>,  block_product<7>,  block_product<8>,
    block_product<9>, block_product<10>, block_product<11>, block_product<12>};

// Computes c = alpha · a · b + beta · c, where panels(p, j) is the packed panel of b at row p and
// column j.
template <class Panels>
void product(Index m, Index n, Index k, float alpha, const MatrixView<float>& a,
             const Panels& panels, float beta, float* c, Index c_stride, Pair* packed_a) {
  const Index passes = (m + max_packed_rows - 1) / max_packed_rows;
  for (Index pass = 0; pass < passes; ++pass) {
    const Index i = m * pass / passes, rows = m * (pass + 1) / passes - i;
    // At least once, so that beta is applied when k is 0.
    for (Index p = 0; p == 0 || p < k; p += max_depth) {
      const Index depth = least(max_depth, k - p);
      pack_a(a.at(i, p), rows, depth, packed_a);
      for (Index j = 0; j < n; j += panel_columns) {
        Block block{(depth + 1) / 2,
                    packed_a,
                    panels(p, j),
                    alpha,
                    p == 0 ? beta : 1.0f,
                    c + i * c_stride + j,
                    c_stride,
                    {first_lanes(n - j), first_lanes(n - j - lanes)}};
        // Blocks of about the same number of rows.
        const Index blocks = (rows + block_rows - 1) / block_rows;
        for (Index number = 0; number < blocks; ++number) {
          const Index count = rows / blocks + (number < rows % blocks ? 1 : 0);
          block_products[count - 1](block);
          block.a += count * max_pairs;
          block.c += count * c_stride;
        }
      }
    }
  }
}

// Returns the offset of the panel at row p and column j in a packed matrix with n columns.
Index panel_at(Index n, Index p, Index j) {
  return (p / max_depth * ((n + panel_columns - 1) / panel_columns) + j / panel_columns) *
         panel_size;
}

}  // namespace

void bf16_product(Index m, Index n, Index k, float alpha, const MatrixView<float>& a,
                  const MatrixView<float>& b, float beta, float* c, Index c_stride,
                  void* workspace) {
  Pair* const packed_a = static_cast<Pair*>(workspace);
  Pair* const packed = packed_a + packed_a_size;
  const auto panels = [&](Index p, Index j) {
    const Index panel = j % max_packed_columns;
    if (panel == 0)
      pack_b(b.at(p, j), least(max_packed_columns, n - j), least(max_depth, k - p), packed);
    return packed + panel / panel_columns * panel_size;
  };
  product(m, n, k, alpha, a, panels, beta, c, c_stride, packed_a);
}

Index workspace_bytes() {
  return (packed_a_size + packed_b_size) * static_cast<Index>(sizeof(Pair));
}

Index packed_bytes(Index n, Index k) {
  return panel_at(n, k + max_depth - 1, 0) * static_cast<Index>(sizeof(Pair));
}

Index packed_parts(Index n, Index k) {
  return (k + max_depth - 1) / max_depth * ((n + part_columns - 1) / part_columns);
}

void pack(Index n, Index k, const MatrixView<float>& b, Index part, void* packed) {
  const Index parts_per_depth = (n + part_columns - 1) / part_columns;
  const Index p = part / parts_per_depth * max_depth, j = part % parts_per_depth * part_columns;
  pack_b(b.at(p, j), least(part_columns, n - j), least(max_depth, k - p),
         static_cast<Pair*>(packed) + panel_at(n, p, j));
}

void bf16_product(Index m, Index n, Index k, float alpha, const MatrixView<float>& a,
                  const void* packed, Index packed_columns, Index first, float beta, float* c,
                  Index c_stride, void* workspace) {
  const auto panels = [&](Index p, Index j) {
    return static_cast<const Pair*>(packed) + panel_at(packed_columns, p, first + j);
  };
  product(m, n, k, alpha, a, panels, beta, c, c_stride, static_cast<Pair*>(workspace));
}

}  // namespace weft::avx512

#else  // a compiler without the instructions: never called

namespace weft::avx512 {

void bf16_product(Index, Index, Index, float, const MatrixView<float>&, const MatrixView<float>&,
                  float, float*, Index, void*) {}
void bf16_product(Index, Index, Index, float, const MatrixView<float>&, const void*, Index, Index,
                  float, float*, Index, void*) {}
Index workspace_bytes() { return 0; }
Index packed_bytes(Index, Index) { return 0; }
Index packed_parts(Index, Index) { return 0; }
void pack(Index, Index, const MatrixView<float>&, Index, void*) {}

}  // namespace weft::avx512

#endif
