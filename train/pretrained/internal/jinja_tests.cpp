#include "train/pretrained/internal/jinja_tests.hpp"

#include "train/pretrained/internal/jinja_filters.hpp"
#include "train/pretrained/internal/jinja_text.hpp"

namespace weft::jinja {
namespace {

bool is_singleton(const Value& value) { return value.as<None>() || value.as<bool>(); }

bool is_sequence(const Value& value) {
  return value.as<Text>() || value.as<Markup>() || value.as<Undefined>() || places_in(value) ||
         value.as<std::shared_ptr<const Dict>>();
}

bool is_callable(const Value& value) {
  return value.as<Undefined>() || value.as<std::shared_ptr<Loop>>() ||
         value.as<std::shared_ptr<const Macro>>() || value.as<std::shared_ptr<const Function>>();
}

bool leaves_remainder(Call& call, std::int64_t divisor, std::int64_t remainder) {
  return are_equal(call.run, computed(call.run, "%", call[0], divisor), remainder);
}

template <class T>
bool is_a(Call& call) {
  return call[0].as<T>() != nullptr;
}

const Table& tests() {
  static const Table table = table_of({
      {"boolean", "value", [](Call& call) -> Value { return is_a<bool>(call); }},
      {"callable", "obj; /", [](Call& call) -> Value { return is_callable(call[0]); }},
      {"defined", "value", [](Call& call) -> Value { return !is_a<Undefined>(call); }},
      {"divisibleby", "value:n; num:n",
       [](Call& call) -> Value {
         return are_equal(call.run, computed(call.run, "%", call[0], call[1]), std::int64_t{0});
       }},
      {"== eq equalto", "a; b; /",
       [](Call& call) { return computed(call.run, "==", call[0], call[1]); }},
      {"escaped", "value", [](Call& call) -> Value { return is_a<Markup>(call); }},
      {"even", "value:n", [](Call& call) -> Value { return leaves_remainder(call, 2, 0); }},
      {"false", "value", [](Call& call) -> Value { return is_a<bool>(call) && !is_true(call[0]); }},
      {"filter", "value:s",
       [](Call& call) -> Value { return find_filter(call.text(0)) != nullptr; }},
      {"float", "value", [](Call& call) -> Value { return is_a<double>(call); }},
      {">= ge", "a; b; /", [](Call& call) { return computed(call.run, ">=", call[0], call[1]); }},
      {"> gt greaterthan", "a; b; /",
       [](Call& call) { return computed(call.run, ">", call[0], call[1]); }},
      {"in", "value; seq",
       [](Call& call) -> Value { return contains(call.run, call[1], call[0]); }},
      {"integer", "value", [](Call& call) -> Value { return is_a<std::int64_t>(call); }},
      {"iterable", "value",
       [](Call& call) -> Value {
         return is_sequence(call[0]) || is_a<std::shared_ptr<const Sequence>>(call) ||
                is_a<std::shared_ptr<Loop>>(call);
       }},
      {"<= le", "a; b; /", [](Call& call) { return computed(call.run, "<=", call[0], call[1]); }},
      {"lower", "value:T",
       [](Call& call) -> Value { return is_all_in_case(call.text(0), Case::lower); }},
      {"< lt lessthan", "a; b; /",
       [](Call& call) { return computed(call.run, "<", call[0], call[1]); }},
      {"mapping", "value",
       [](Call& call) -> Value { return is_a<std::shared_ptr<const Dict>>(call); }},
      {"!= ne", "a; b; /", [](Call& call) { return computed(call.run, "!=", call[0], call[1]); }},
      {"none", "value", [](Call& call) -> Value { return is_a<None>(call); }},
      {"number", "value", [](Call& call) -> Value { return number_of(call[0]).has_value(); }},
      {"odd", "value:n", [](Call& call) -> Value { return leaves_remainder(call, 2, 1); }},
      {"sameas", "value; other",
       [](Call& call) -> Value {
         if (!is_singleton(call[0]) && !is_singleton(call[1]))
           fail_rendering("none, true or false for sameas", type_name(call[0]));
         return call[0].index() == call[1].index() && is_true(call[0]) == is_true(call[1]);
       }},
      {"sequence", "value", [](Call& call) -> Value { return is_sequence(call[0]); }},
      {"string", "value",
       [](Call& call) -> Value { return is_a<Text>(call) || is_a<Markup>(call); }},
      {"test", "value:s", [](Call& call) -> Value { return find_test(call.text(0)) != nullptr; }},
      {"true", "value", [](Call& call) -> Value { return is_a<bool>(call) && is_true(call[0]); }},
      {"undefined", "value", [](Call& call) -> Value { return is_a<Undefined>(call); }},
      {"upper", "value:T",
       [](Call& call) -> Value { return is_all_in_case(call.text(0), Case::upper); }},
  });
  return table;
}

}  // namespace

const Signature* find_test(std::string_view name) { return found_in(tests(), name); }

}  // namespace weft::jinja
