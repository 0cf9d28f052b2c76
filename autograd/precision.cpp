#include "weft/autograd/precision.hpp"

#include "autograd/internal/bf16_emulation.hpp"
#include "autograd/kernels/library_product.hpp"

namespace weft {

bool is_supported(Precision precision) {
  return precision == Precision::full || EmulateBf16::is_on() || has_bf16_product();
}

}  // namespace weft
