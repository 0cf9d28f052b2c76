// EmulateBf16: bf16 products without the processor's instructions, for tests.
#pragma once

#include <atomic>
#include <string>
#include <type_traits>

#include "weft/autograd/error.hpp"
#include "weft/autograd/precision.hpp"

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

// Throws ValueError, naming `what`, for bf16 with numbers of type double, and Error for bf16 on a
// processor without its instructions.
template <class T>
void check_precision(const std::string& what, Precision precision) {
  if (precision == Precision::full) return;
  if constexpr (!std::is_same_v<T, float>)
    fail<ValueError>(what + ": precision", "full for numbers of type double", "bf16");
  if (!is_supported(precision) && !EmulateBf16::is_on())
    fail<Error>(what + ": precision bf16", "a processor with AVX512-BF16 instructions",
                "a processor without them; use precision full");
}

}  // namespace weft
