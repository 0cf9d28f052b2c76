// Checks of options, with uniform messages.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "weft/autograd/error.hpp"
#include "weft/autograd/shape.hpp"

namespace weft {

// Throws ValueError unless value > 0. The message starts with `what`.
template <class Value>
void check_positive(std::string_view what, Value value) {
  if (!(value > Value{0})) fail<ValueError>(std::string(what), "a number > 0", value);
}

// Throws ValueError unless value ≥ least. The message starts with `what`.
template <class Value>
void check_at_least(std::string_view what, Value value, Value least) {
  if (!(value >= least)) fail<ValueError>(std::string(what), str_cat("a number ≥ ", least), value);
}

// Throws ValueError unless value is ≥ 0 and finite, and remains finite when converted to T. The
// message starts with `what`.
template <class T = double>
void check_finite_non_negative(std::string_view what, double value) {
  if (!(value >= 0.0) || std::isinf(value))
    fail<ValueError>(std::string(what), "a finite number ≥ 0", value);
  if (value > static_cast<double>(std::numeric_limits<T>::max()))
    fail<ValueError>(std::string(what),
                     str_cat("a number of at most ", std::numeric_limits<T>::max()), value);
}

// Throws ValueError unless 0 ≤ p ≤ 1. The message starts with `what`.
inline void check_probability(std::string_view what, double p) {
  if (!(p >= 0.0 && p <= 1.0)) fail<ValueError>(std::string(what), "a probability from 0 to 1", p);
}

// Returns the range of indices of `count` elements as text for a message.
inline std::string index_range(Index count) {
  return count > 0 ? str_cat("0 to ", count - 1) : "an empty range";
}

// Throws ValueError for an empty std::function. The message starts with `what`.
template <class Function>
void check_function(std::string_view what, const Function& function) {
  if (!function) fail<ValueError>(std::string(what), "a function", "none");
}

}  // namespace weft
