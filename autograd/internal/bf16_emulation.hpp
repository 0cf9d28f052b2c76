// EmulateBf16: bf16 products without the processor's instructions, for tests.
#pragma once

#include <atomic>
#include <string>
#include <type_traits>

#include "weft/autograd/error.hpp"
#include "weft/autograd/precision.hpp"

namespace weft {

// While an object of this class exists, products with `Precision::bf16` are computed in bf16
// whatever the processor and their sizes, except products of a few rows with a transposed matrix.
// They are computed by single-precision products of rounded copies.
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

// Throws ValueError, naming `what`, for bf16 with numbers of type double.
template <class T>
void check_precision(const std::string& what, Precision precision) {
  if constexpr (!std::is_same_v<T, float>)
    if (precision != Precision::full)
      fail<ValueError>(what + ": precision", "full for numbers of type double", "bf16");
}

}  // namespace weft
