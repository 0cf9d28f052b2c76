// EmulateBf16: bf16 products without the processor's instructions, for tests.
#pragma once

namespace weft {

// While an object exists, `Precision::bf16` is allowed on every processor, and its products are
// computed by rounding copies of the inputs.
class EmulateBf16 {
 public:
  EmulateBf16();
  ~EmulateBf16();
  EmulateBf16(const EmulateBf16&) = delete;
  EmulateBf16& operator=(const EmulateBf16&) = delete;

  static bool is_on();
};

}  // namespace weft
