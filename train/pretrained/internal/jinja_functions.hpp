// Signatures of filters, tests, methods and functions; tables of them; Jinja's functions.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "train/pretrained/internal/jinja_operators.hpp"

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
  // Markup, i integer, b anything as true or false, none anything; with "?" also none. "." marks a
  // member without parentheses. What Jinja has and weft has not is without implementation.
  Signature(std::string_view name, std::string_view parameters, Implementation run);

  struct Parameter {
    std::string name;
    char type = 'x';
    bool may_be_none = false, is_by_place = false;
    std::string fallback;  // the default as source text; empty if the parameter is required
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

// Signatures by name.
using Table = std::map<std::string, Signature, std::less<>>;

// Makes a table; a row may have several names, with spaces between them.
Table table_of(std::initializer_list<Signature> rows);
// Returns null if the table does not have the name.
const Signature* found_in(const Table& table, std::string_view name);

// Returns the argument `what` as a parameter's type. Throws ValueError for one of another type.
Value converted(Run& run, Value value, char type, const std::string& what);

// Returns a function; null for a name that Jinja does not have.
const Signature* find_function(std::string_view name);

}  // namespace weft::jinja
