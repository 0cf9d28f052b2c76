// EmulateBf16: bf16 products without the processor's instructions, for tests.
#pragma once

#include <atomic>

namespace weft {

// While an object of this class exists, every processor allows `Precision::bf16`; its products are
// computed by rounding copies of the inputs.
class EmulateBf16 {
 public:
  EmulateBf16() { ++objects_; }
  ~EmulateBf16() { --objects_; }
  EmulateBf16(const EmulateBf16&) = delete;
  EmulateBf16& operator=(const EmulateBf16&) = delete;

  static bool is_on() { return objects_ > 0; }

 private:
  static inline std::atomic<int> objects_ = 0;
};

}  // namespace weft
