// Precision: how matrix products round their inputs.
#pragma once

#include "weft/autograd/enum_names.hpp"
#include "weft/autograd/export.hpp"

namespace weft {

// How matrix products round their inputs.
enum class Precision {
  // The precision of the tape's type, without rounding.
  full,
  // bfloat16, which has a float's range but only 8 significant bits. Inputs of matrix products with
  // at least half a million multiplications are rounded to nearest even, subnormal inputs possibly
  // to zero. So are tensors of at least 65,536 elements that operations keep for backward: inputs
  // of `linear`, `gated` and attention, results of attention, and slopes of activations. Everything
  // else uses single precision (Micikevicius et al., 2018, https://arxiv.org/abs/1710.03740). For
  // float only. Equal to full unless `is_supported`.
  bf16,
};

inline constexpr EnumNames<Precision, 2> precision_names{{
    {Precision::full, "full"},
    {Precision::bf16, "bf16"},
}};

// Returns whether matrix products can use `precision`. bf16 needs oneDNN and a processor with
// AVX512-BF16 (AMD since Zen 4; Intel Cooper Lake, and Intel since Sapphire Rapids).
WEFT_API bool is_supported(Precision precision);

}  // namespace weft
