// Bf16Support: while one is there, products in bf16 work on any processor.
#pragma once

#include <optional>

#include <weft/autograd/precision.hpp>
#include "autograd/internal/bf16_emulation.hpp"

namespace weft {

struct Bf16Support {
  std::optional<EmulateBf16> emulation;  // where the processor lacks the instructions
  Bf16Support() {
    if (!is_supported(Precision::bf16)) emulation.emplace();
  }
};

}  // namespace weft
