// The values of chat templates, and what expressions do with them.
#pragma once

#include <cstddef>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace weft::jinja {

using json = nlohmann::ordered_json;

// A value that is kept elsewhere; null when it is undefined.
using Value = const json*;

// Keeps what a template computes.
class Values {
 public:
  Value keep(json value) {
    charge(value);
    return &kept_.emplace_back(std::move(value));
  }
  // Counts a value, and so many bytes. Throws ValueError when there are more than 64 MiB in all,
  // and for a value that is nested more than 100 times.
  void charge(const json& value) { charge(bytes_in(value, 0)); }
  void charge(std::size_t bytes);

 private:
  static std::size_t bytes_in(const json& value, int depth);

  std::deque<json> kept_;
  std::size_t bytes_ = 0;
};

// Functions throw ValueError, "chat template: expected …, got …", for values that have no meaning
// there.
[[noreturn]] void fail_rendering(const std::string& expected, const std::string& got);

// The value. Throws when it is undefined; `what` is what needs it.
const json& defined(Value value, std::string_view what);
bool is_true(Value value);
// As Python's print.
std::string text_of(Value value);
// What a loop over a value gives: the keys of an object.
json items_of(const json& value);

struct Arguments {
  std::vector<Value> values;
  json named = json::object();

  // The argument of a position, a text.
  std::string text(std::size_t index, const std::string& otherwise = "") const;
};

// A filter or a method, value | trim, value.strip(), or with "()" after the name a function,
// namespace(found=false).
Value call(Values& values, const std::string& name, Value value, const Arguments& arguments);
// A test: value is defined.
bool passes(const std::string& test, Value value);
// An operator with two operands: "+", "==", "not in", …
Value computed(Values& values, const std::string& sign, Value left, Value right);
// value[key] and value.key; undefined where there is none.
Value element(Value value, Value key);
// Python's value[begin:end:step].
Value slice(Values& values, Value value, Value begin, Value end, Value step);

}  // namespace weft::jinja
