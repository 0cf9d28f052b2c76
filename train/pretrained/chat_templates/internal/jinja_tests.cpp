#include "train/pretrained/chat_templates/internal/jinja_tests.hpp"

namespace weft::jinja {
namespace {

bool is_sequence(const Value& value) {
  return value.as<Text>() || value.as<Markup>() || value.as<Undefined>() || places_in(value) ||
         value.as<std::shared_ptr<const Dict>>();
}

template <class T>
bool is_a(Call& call) {
  return call[0].as<T>() != nullptr;
}

const Table& tests() {
  static const Table table = table_of({
      {"boolean", "value", [](Call& call) -> Value { return is_a<bool>(call); }},
      {"defined", "value", [](Call& call) -> Value { return !is_a<Undefined>(call); }},
      {"== eq equalto", "a; b; /",
       [](Call& call) { return computed(call.run, "==", call[0], call[1]); }},
      {"false", "value", [](Call& call) -> Value { return is_a<bool>(call) && !is_true(call[0]); }},
      {"in", "value; seq",
       [](Call& call) -> Value { return contains(call.run, call[1], call[0]); }},
      {"iterable", "value",
       [](Call& call) -> Value {
         return is_sequence(call[0]) || is_a<std::shared_ptr<const Sequence>>(call) ||
                is_a<std::shared_ptr<Loop>>(call);
       }},
      {"mapping", "value",
       [](Call& call) -> Value { return is_a<std::shared_ptr<const Dict>>(call); }},
      {"none", "value", [](Call& call) -> Value { return is_a<None>(call); }},
      {"sequence", "value", [](Call& call) -> Value { return is_sequence(call[0]); }},
      {"string", "value",
       [](Call& call) -> Value { return is_a<Text>(call) || is_a<Markup>(call); }},
      {"true", "value", [](Call& call) -> Value { return is_a<bool>(call) && is_true(call[0]); }},
      {"undefined", "value", [](Call& call) -> Value { return is_a<Undefined>(call); }},
      {"callable divisibleby escaped even filter float >= ge > gt greaterthan integer <= le < lt "
       "lessthan lower != ne number odd sameas test upper",
       "*; **", nullptr},
  });
  return table;
}

}  // namespace

const Signature* find_test(std::string_view name) { return found_in(tests(), name); }

}  // namespace weft::jinja
