#include "autograd/internal/bfloat16.hpp"

#ifdef __x86_64__
#include <immintrin.h>

#include <cstring>
#endif

namespace weft {
namespace {

#ifdef __x86_64__
// Rounds vectors of floats with AVX512-BF16, which rounds subnormal numbers to zero. Returns the
// number of elements that are rounded.
__attribute__((target("avx512f,avx512bf16"))) Index round_vectors(Index n, const float* from,
                                                                  std::uint16_t* to) {
  constexpr Index lanes = 16;
  Index i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const __m512bh numbers =
        _mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + i + lanes), _mm512_loadu_ps(from + i));
    std::memcpy(to + i, &numbers, sizeof numbers);
  }
  return i;
}

bool has_instruction() {
  static const bool has = __builtin_cpu_supports("avx512bf16");
  return has;
}
#endif

}  // namespace

void round_to_bfloat16(Index n, const float* from, std::uint16_t* to) {
  Index i = 0;
#ifdef __x86_64__
  if (has_instruction()) i = round_vectors(n, from, to);
#endif
  for (; i < n; ++i) to[i] = bfloat16_of(from[i]);
}

}  // namespace weft
