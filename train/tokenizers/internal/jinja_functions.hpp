// What chat templates may call: filters, tests, functions, and the members of values, each with a
// declared signature.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "train/tokenizers/internal/jinja_values.hpp"

namespace weft::jinja {

struct Arguments {
  std::vector<Value> values;
  std::vector<std::pair<std::string, Value>> named;
};

// A call with its arguments in the order of the parameters; what "*" and "**" take comes after.
struct Call {
  Run& run;
  std::vector<Value> values;
  std::vector<std::pair<std::string, Value>> named;

  const Value& operator[](std::size_t i) const { return values[i]; }
  bool is_none(std::size_t i) const { return values[i].as<None>(); }
  bool flag(std::size_t i) const { return *values[i].as<bool>(); }
  std::int64_t integer(std::size_t i) const { return *values[i].as<std::int64_t>(); }
  const std::string& text(std::size_t i) const { return run.read(*values[i].as<Text>()); }
};

struct Signature {
  using Implementation = Value (*)(Call&);

  // `parameters` are separated by "; ", each "name:type=default"; "/" comes after those that are
  // given by place only, "*" and "**" take more. Types: s string, t anything as a string but
  // Markup, T anything as a string, i integer, n number, b anything as true or false, none
  // anything; with "?" also none. "." marks a member without parentheses. What
  // Jinja has and weft has not is without implementation.
  Signature(std::string_view name, std::string_view parameters, Implementation run);

  struct Parameter {
    std::string name;
    char type = 'x';
    bool may_be_none = false, is_by_place = false;
    std::string fallback;  // as it is written; empty if there is none
  };
  std::string name;
  std::vector<Parameter> parameters;
  bool takes_more = false, takes_names = false, is_member = false;
  Implementation run;

  // Throws ValueError for arguments that do not fit the parameters.
  Value call(Run& run, Arguments arguments) const;
};

// A function, or a method with the value that it is of.
struct Function {
  const Signature* signature;
  std::optional<Value> own;
};

// Each returns null for a name that Jinja does not have.
const Signature* find_filter(std::string_view name);
const Signature* find_test(std::string_view name);
const Signature* find_function(std::string_view name);
// "str.split", "loop.index", …
const Signature* find_member(std::string_view type, std::string_view name);

// value.name and value[key]: undefined where there is none.
Value attribute(Run& run, const Value& own, const Text& name);
Value element(Run& run, const Value& own, const Value& key);

}  // namespace weft::jinja
