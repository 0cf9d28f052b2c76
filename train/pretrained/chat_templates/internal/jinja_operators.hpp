// The operators of Jinja's expressions.
#pragma once

#include <array>
#include <string>

#include "train/pretrained/chat_templates/internal/jinja_values.hpp"

namespace weft::jinja {

// Returns `number` as a value. Throws ValueError unless it is finite.
Value finite(double number);
// Returns a == b, as in Python.
bool are_equal(Run& run, const Value& a, const Value& b);
// Returns a < b. Throws ValueError for values that Python cannot order.
bool is_less(Run& run, const Value& a, const Value& b);
// Returns `part in whole`.
bool contains(Run& run, const Value& whole, const Value& part);
// Returns the result of a binary operator: "+", "==", "not in", …
Value computed(Run& run, const std::string& sign, const Value& left, const Value& right);
// Returns value[begin:end:step].
Value slice(Run& run, const Value& value, const std::array<Value, 3>& places);

}  // namespace weft::jinja
