#include "weft/autograd/precision.hpp"

namespace weft {

bool is_supported(Precision precision) {
#ifdef WEFT_HAS_AVX512_BF16
  static const bool has_bf16 = __builtin_cpu_supports("avx512bf16") &&
                               __builtin_cpu_supports("avx512bw") &&
                               __builtin_cpu_supports("avx512vl");
#else
  constexpr bool has_bf16 = false;
#endif
  return precision == Precision::full || has_bf16;
}

}  // namespace weft
