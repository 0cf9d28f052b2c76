// Signatures of filters, tests, methods and functions, tables of signatures, and Jinja's functions.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "train/pretrained/chat_templates/internal/jinja_operators.hpp"

namespace weft::jinja {

// The arguments of a call, evaluated.
struct Arguments {
  std::vector<Value> values;
  std::vector<std::pair<std::string, Value>> named;
};

// A call. Its arguments are in the order of the parameters, followed by additional arguments for
// "*" and "**".
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

// The parameters and the implementation of a filter, test, method or function.
struct Signature {
  using Implementation = Value (*)(Call&);

  // `parameters` are separated by "; ". Each has the form "name:type=default". "/" follows the
  // parameters that can only be passed by position; "*" and "**" accept additional arguments.
  // Types: s string, t any value, converted to a string, except Markup, i integer, b any value,
  // converted to a bool; without a type, any value. "?" also accepts none. "." marks an attribute,
  // which is used without parentheses. `run` is null for elements of Jinja that are not supported.
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

  // Calls the implementation. Throws ValueError if the arguments do not match the parameters, or if
  // the element is not supported.
  Value call(Run& run, Arguments arguments) const;
};

// A function, or a method with its object.
struct Function {
  const Signature* signature;
  std::optional<Value> own;
};

// Signatures by name.
using Table = std::map<std::string, Signature, std::less<>>;

// Returns a table. A row may list several names, separated by spaces.
Table table_of(std::initializer_list<Signature> rows);
// Returns the signature called `name`, or null if the table does not contain it.
const Signature* found_in(const Table& table, std::string_view name);

// Converts an argument to the type of a parameter. Throws ValueError, naming `what`, if it has a
// different type.
Value converted(Run& run, Value value, char type, const std::string& what);

// Returns the function called `name`, or null if Jinja has no such function.
const Signature* find_function(std::string_view name);

}  // namespace weft::jinja
