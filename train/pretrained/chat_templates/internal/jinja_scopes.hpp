// The scopes of a template: variables, macros, assignments.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "train/pretrained/chat_templates/internal/jinja.hpp"
#include "train/pretrained/chat_templates/internal/jinja_functions.hpp"

namespace weft::jinja {

// How a scope uses a name. This determines what the name refers to (jinja2's idtracking): a name
// that is only read refers to the outer scope; a name that is set is local, and its initial value
// is the outer one.
struct Use {
  bool is_parameter = false;
  bool is_set = false;
  bool starts_undefined = false;  // it is always set before it is read
};
using Names = std::map<std::string, Use>;

// An open scope and the values of its variables.
struct Scope {
  Scope* outer;
  std::size_t number;  // its number among all scopes of a rendering
  std::map<std::string_view, std::optional<Value>> values = {};

  std::optional<Value>* find(std::string_view name);
};

// The state of a rendering.
struct Context : Run {
  using Run::Run;

  void write(const std::string& text) {
    charge(2 * text.size());  // twice, because growing copies the text
    out += text;
  }

  std::map<std::string, Value> variables;
  std::vector<Scope*> scopes;  // the open scopes; the last one is the current scope
  std::size_t num_scopes = 0;
  std::string out;
  int captures = 0;  // the number of nested captures, in which `out` is not the template's output
  std::optional<std::vector<std::pair<std::size_t, std::size_t>>> generated{std::in_place};
};

// Opens a scope, and closes it when destroyed. Names have their initial values.
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

// How execution continues after a statement.
enum class Flow { next, leave_loop, next_item };
using Statement = std::function<Flow(Context&)>;
using Expression = std::function<Value(Context&)>;

// Returns the output of a part of a template, and how execution continues after it.
std::pair<std::string, Flow> captured(Context& in, const Statement& part);

// The definition of a macro.
struct MacroCode {
  std::string name;
  std::vector<std::pair<std::string, Expression>> parameters;  // with defaults, or null
  Names names;
  Statement body;
};
// A macro as a value.
struct Macro {
  std::shared_ptr<const MacroCode> code;
  std::size_t place, number;  // the position and number of the scope that defined it
};

// Calls a function or a macro. Throws ValueError for other values.
Value called(Context& in, const Value& callee, Arguments arguments);

// The target of an assignment: a name, an attribute of a namespace, or several targets.
struct Target {
  std::string name, attribute;
  std::vector<Target> parts;
  bool is_tuple = false;

  void assign(Context& in, const Value& value) const;
};

}  // namespace weft::jinja
