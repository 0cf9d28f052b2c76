// TextBudget: limits the time and memory that a tokenizer's steps may use for a text.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/autograd/error.hpp"

namespace weft {

// Counts the work for one text in units of about a nanosecond. Every step charges its work here, so
// that time and memory are limited by the size of the text, regardless of the file: 1024 units per
// byte plus 4 Mi units, more than twenty times what a typical tokenizer needs.
class TextBudget {
 public:
  // The cost of adding a byte to a text, and the cost of a backtracking step of a regular
  // expression.
  static constexpr std::uint64_t per_new_byte = 64, per_retry = 16;

  explicit TextBudget(std::size_t bytes) : left_((std::uint64_t{1} << 22) + bytes * 1024) {}

  // Returns false, and charges nothing, if fewer units are left.
  bool try_spend(std::uint64_t units) {
    if (units > left_) return false;
    left_ -= units;
    return true;
  }
  // Throws ValueError if fewer units are left.
  void spend(std::uint64_t units) {
    if (!try_spend(units))
      fail<ValueError>("text", "tokenizer steps whose cost is in proportion to the text",
                       "steps that take too much time or memory");
  }
  // Charges for replacing bytes.
  void replace(std::size_t bytes, std::size_t new_bytes) {
    spend(bytes + new_bytes + (new_bytes > bytes ? (new_bytes - bytes) * per_new_byte : 0));
  }

 private:
  std::uint64_t left_;
};

}  // namespace weft
