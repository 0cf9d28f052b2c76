// Precision: the precision of the inputs of matrix products.
#pragma once

#include "weft/autograd/enum_names.hpp"
#include "weft/autograd/export.hpp"

namespace weft {

// How matrix products round their inputs.
enum class Precision {
  // That of the tape's type.
  full,
  // bfloat16: the 8 leading bits of a float's significand, with its range. The inputs of matrix
  // products are rounded to nearest even, subnormal ones to zero, and the products are added in
  // single precision; everything else is computed and stored in single precision
  // (Micikevicius et al., 2018, https://arxiv.org/abs/1710.03740). For float only.
  bf16,
};

inline constexpr EnumNames<Precision, 2> precision_names{{
    {Precision::full, "full"},
    {Precision::bf16, "bf16"},
}};

// Whether this processor has the instructions for it: bf16 needs AVX512-BF16 (AMD from Zen 4, Intel
// Cooper Lake and from Sapphire Rapids).
WEFT_API bool is_supported(Precision precision);

}  // namespace weft
