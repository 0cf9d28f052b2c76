// The scopes in which the parts of chat templates run: variables, macros, assignments.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "train/pretrained/internal/jinja.hpp"
#include "train/pretrained/internal/jinja_functions.hpp"

namespace weft::jinja {

// How a scope uses a name, which decides what the name means there (jinja2's idtracking): a name
// that is only read is the outer scope's; one that is set is the scope's own, and starts with the
// outer value.
struct Use {
  bool is_parameter = false;
  bool is_set = false;
  bool starts_undefined = false;  // it is set, whatever happens, before it is read
};
using Names = std::map<std::string, Use>;

struct Scope {
  Scope* outer;
  std::size_t number;  // of all scopes of a rendering
  std::map<std::string_view, std::optional<Value>> values = {};

  std::optional<Value>* find(std::string_view name);
};

// The state of a rendering.
struct Context : Run {
  using Run::Run;

  void write(const std::string& text) {
    charge(2 * text.size());  // it grows by copying
    out += text;
  }

  std::map<std::string, Value> variables;
  std::vector<Scope*> scopes;  // that are open; the last one is the current one
  std::size_t num_scopes = 0;
  std::string out;
  int captures = 0;  // how often `out` is something else than the text of the template
  std::optional<std::vector<std::pair<std::size_t, std::size_t>>> generated{std::in_place};
};

// Opens a scope; its names have their first values.
class OpenScope {
 public:
  OpenScope(Context& in, const Names& names, Scope* outer);
  OpenScope(const OpenScope&) = delete;
  OpenScope& operator=(const OpenScope&) = delete;
  ~OpenScope() { in_.scopes.pop_back(); }

  void set(const std::string& name, Value value) { scope_.values[name] = std::move(value); }

 private:
  Context& in_;
  Scope scope_;
};

// What runs after a statement.
enum class Flow { next, leave_loop, next_item };
using Statement = std::function<Flow(Context&)>;
using Expression = std::function<Value(Context&)>;

// The text that a part of a template writes, and what goes on after it.
std::pair<std::string, Flow> captured(Context& in, const Statement& part);

struct MacroCode {
  std::string name;
  std::vector<std::pair<std::string, Expression>> parameters;  // with fallbacks, or none
  Names names;
  Statement body;
};
struct Macro {
  std::shared_ptr<const MacroCode> code;
  std::size_t place, number;  // of the scope that it was defined in
};

Value called(Context& in, const Value& callee, Arguments arguments);

// Where a value goes: a name, an attribute of a namespace, or several of these.
struct Target {
  std::string name, attribute;
  std::vector<Target> parts;
  bool is_tuple = false;

  void assign(Context& in, const Value& value) const;
};

}  // namespace weft::jinja
