// The parser of chat templates, and the scopes in which their parts run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "train/tokenizers/internal/jinja.hpp"
#include "train/tokenizers/internal/jinja_functions.hpp"
#include "train/tokenizers/internal/jinja_tokens.hpp"

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

// What is kept while a template is rendered.
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

// What goes on after a statement.
enum class Flow { next, leave_loop, next_item };
using Statement = std::function<Flow(Context&)>;
using Expression = std::function<Value(Context&)>;

// What becomes of a value: an operator with its right operand, a member, a filter, a call.
using Change = std::function<Value(Context&, Value)>;
Expression in_sequence(Expression first, std::vector<Change> changes);

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

// Arguments of a call, evaluated when it is called.
struct Given {
  std::vector<std::pair<std::string, Expression>> values;  // with names, or ""
  Arguments operator()(Context& in) const;
};
Value called(Context& in, const Value& callee, Arguments arguments);

// Where a value goes: a name, an attribute of a namespace, or several of these.
struct Target {
  std::string name, attribute;
  std::vector<Target> parts;
  bool is_tuple = false;

  void assign(Context& in, const Value& value) const;
};

// Expressions, of which statements consist.
class ExpressionParser {
 protected:
  explicit ExpressionParser(std::string_view text) : text_(text), tokens_(tokens_of(text)) {}

  [[noreturn]] void fail_here(const std::string& expected) const {
    fail_at(text_, tokens_[at_].place, expected);
  }
  bool is_next(std::string_view sign, std::size_t ahead = 0) const;
  bool is_next_name() const { return tokens_[at_].kind == Token::Kind::name; }
  bool take(std::string_view sign);
  void expect(const char* sign);
  std::string name(const char* expected = "a name");

  // As in Jinja's parse_tuple: expressions with commas between them are a tuple. `ends` is a word
  // that may follow.
  Expression tuple(bool with_condition, std::string_view ends = "");
  Expression expression();
  Expression alternatives() { return operation(0); }  // without "if"
  Given arguments();
  Change filter();  // after "|"

  void load(const std::string& variable);
  void store(const std::string& variable);

  struct Nested {
    explicit Nested(ExpressionParser& in) : depth(in.depth_) {
      constexpr int deepest = 100;
      if (++depth > deepest) in.fail_here("at most 100 nested parts");
    }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    ~Nested() { --depth; }
    int& depth;
  };

  bool uses_date = false;

  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Names* names_ = nullptr;     // of the current scope
  std::size_t num_names_ = 0;  // that were read
  int branches_ = 0;           // around, in the current scope
  // Unknown filters and tests, and whether they are refused only when they are used, as in jinja2
  // within conditions.
  std::vector<std::pair<std::size_t, std::string>> unknown_;
  bool is_soft_ = false;
  bool is_in_macro_ = false;   // varargs, kwargs and caller mean something
  bool has_no_names_ = false;  // names would not be known

 private:
  Expression operation(std::size_t level);
  Expression comparison();
  Expression unary(bool with_filters);
  Expression primary();
  Expression literal(bool is_list);
  Expression with_members(Expression value);
  Change test();  // after "is"
  Expression with_filters(Expression value);
  // Remembers a filter or test that is not known, and its place.
  void check_known(const Signature* found, const std::string& what);
};

}  // namespace weft::jinja
