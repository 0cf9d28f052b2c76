// The values of chat templates, and what expressions do with them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::jinja {

using json = nlohmann::ordered_json;

// A value; one without is undefined.
using Value = std::optional<json>;

// Functions throw ValueError, "chat template: expected …, got …", for values that have no meaning
// there.
[[noreturn]] void fail_rendering(const std::string& expected, const std::string& got);

// The value. Throws when it is undefined; `what` is what needs it.
const json& defined(const Value& value, const std::string& what);
bool is_true(const Value& value);
// As Python's print.
std::string text_of(const Value& value);
std::int64_t integer_of(const Value& value, std::int64_t otherwise);
std::string stripped(std::string_view text, bool left, bool right,
                     std::string_view characters = " \t\n\r\v\f");

struct Arguments {
  std::vector<Value> values;
  json named = json::object();

  // The argument of a position, a text.
  std::string text(std::size_t index, const std::string& otherwise = "") const;
};

// A filter or a method: value | trim, value.strip().
Value call(const std::string& name, const Value& value, const Arguments& arguments);
// A function: namespace(found=false).
Value call_function(const std::string& name, const Arguments& arguments);
// A test: value is defined.
bool passes(const std::string& test, const Value& value);
// An operator with two operands: "+", "==", "not in", …
Value computed(const std::string& sign, const Value& left, const Value& right);
// value[key] and value.key; undefined where there is none.
Value element(const Value& value, const Value& key);
// Python's value[begin:end:step].
Value slice(const Value& value, const Value& begin, const Value& end, const Value& step);

}  // namespace weft::jinja
