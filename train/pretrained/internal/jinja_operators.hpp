// The operators of chat templates.
#pragma once

#include <array>
#include <string>

#include "train/pretrained/internal/jinja_values.hpp"

namespace weft::jinja {

// Returns a number. Throws ValueError unless it is finite.
Value finite(double number);
// Returns a == b, as in Python.
bool are_equal(Run& run, const Value& a, const Value& b);
// Returns a < b. Throws ValueError for values that Python does not order.
bool is_less(Run& run, const Value& a, const Value& b);
// Returns `part in whole`.
bool contains(Run& run, const Value& whole, const Value& part);
// Returns the result of an operator with two operands: "+", "==", "not in", …
Value computed(Run& run, const std::string& sign, const Value& left, const Value& right);
// Returns value[begin:end:step].
Value slice(Run& run, const Value& value, const std::array<Value, 3>& places);

}  // namespace weft::jinja
