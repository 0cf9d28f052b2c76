// The parser of expressions in chat templates.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "train/pretrained/chat_templates/internal/jinja_scopes.hpp"
#include "train/pretrained/chat_templates/internal/jinja_tokens.hpp"

namespace weft::jinja {

// A step applied to a value: an operator with its right operand, a member, a filter, a call.
using Change = std::function<Value(Context&, Value)>;

// The arguments of a call, evaluated each time the call is executed.
struct Given {
  std::vector<std::pair<std::string, Expression>> values;  // with a name, "" or "*"
  Arguments operator()(Context& in) const;
};

// Parses expressions. Base class of the parser of templates.
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

  // Parses expressions; several expressions with commas between them are a tuple, as in Jinja's
  // parse_tuple. `ends` is a word that may follow.
  Expression tuple(bool with_condition, std::string_view ends = "");
  Expression expression();
  Expression alternatives() { return operation(0); }  // an expression without "if"
  Given arguments();

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
  Names* names_ = nullptr;  // the names of the current scope
  int branches_ = 0;        // the number of enclosing branches in the current scope
  // Unknown filters and tests with their positions. If `is_soft_`, they are errors only when they
  // are used, as within conditions in jinja2.
  std::vector<std::pair<std::size_t, std::string>> unknown_;
  bool is_soft_ = false;
  bool is_in_macro_ = false;  // whether varargs, kwargs and caller are defined

 private:
  Expression operation(std::size_t level);
  Expression comparison();
  Expression unary(bool with_filters);
  Expression primary();
  Expression literal(bool is_list);
  Expression with_members(Expression value);
  Change filter();  // parses a filter, after "|"
  Change test();    // parses a test, after "is"
  Expression with_filters(Expression value);
  // Records an unknown filter or test and its position.
  void check_known(const Signature* found, const std::string& what);
};

}  // namespace weft::jinja
