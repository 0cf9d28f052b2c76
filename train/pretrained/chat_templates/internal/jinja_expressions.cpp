#include "train/pretrained/chat_templates/internal/jinja_expressions.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "weft/autograd/error.hpp"
#include "train/pretrained/chat_templates/internal/jinja_filters.hpp"
#include "train/pretrained/chat_templates/internal/jinja_members.hpp"
#include "train/pretrained/chat_templates/internal/jinja_tests.hpp"

namespace weft::jinja {
namespace {

Expression constant(Value value) {
  return [value = std::move(value)](Context&) { return value; };
}
Value text_value(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

// The binary operators by precedence, lowest first, without comparisons.
const std::vector<std::vector<std::string>> operators = {{"or"},     {"and"}, {},
                                                         {"+", "-"}, {"~"},   {"*", "%"}};
constexpr std::size_t comparison_level = 2;

// Applies a filter or a test. `signature` is null if it is unknown.
Change applied(const Signature* signature, const std::string& what, Given given) {
  return [=, given = std::move(given)](Context& in, Value own) {
    if (!signature) fail_rendering("a known " + what.substr(0, what.find(' ')), what);
    Arguments arguments = given(in);
    arguments.values.insert(arguments.values.begin(), std::move(own));
    return signature->call(in, std::move(arguments));
  };
}

Change call_with(Given given) {
  return [given = std::move(given)](Context& in, const Value& own) {
    return called(in, own, given(in));
  };
}

Expression in_sequence(Expression first, std::vector<Change> changes) {
  if (changes.empty()) return first;
  return [first = std::move(first), changes = std::move(changes)](Context& in) {
    Value value = first(in);
    for (const Change& change : changes) {
      const Step step(in);
      value = change(in, std::move(value));
    }
    return value;
  };
}

}  // namespace

bool ExpressionParser::is_next(std::string_view sign, std::size_t ahead) const {
  const Token& token = tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  return (token.kind == Token::Kind::sign || token.kind == Token::Kind::name) && token.text == sign;
}
bool ExpressionParser::take(std::string_view sign) {
  const bool is_there = is_next(sign);
  at_ += is_there ? 1 : 0;
  return is_there;
}
void ExpressionParser::expect(const char* sign) {
  if (!take(sign)) fail_here(sign);
}
std::string ExpressionParser::name(const char* expected) {
  if (!is_next_name()) fail_here(expected);
  return tokens_[at_++].text;
}

void ExpressionParser::load(const std::string& variable) {
  const bool is_special = variable == "caller" || variable == "varargs" || variable == "kwargs";
  const auto known = names_->find(variable);
  const bool is_parameter = known != names_->end() && known->second.is_parameter;
  if (variable == "self" || (is_special && is_in_macro_ && !is_parameter)) {
    --at_;
    fail_here(str_cat("a template without ", variable, " here, which is not supported"));
  }
  names_->emplace(variable, Use{});
  uses_date = uses_date || variable == "strftime_now";
}
void ExpressionParser::store(const std::string& variable) {
  Use& use = names_->emplace(variable, Use{.starts_undefined = branches_ == 0}).first->second;
  use.is_set = true;
}

Expression ExpressionParser::tuple(bool with_condition, std::string_view ends) {
  std::vector<Expression> items;
  bool is_tuple = false;
  while (!is_next("}}") && !is_next("%}") && !is_next(")") && !(!ends.empty() && is_next(ends))) {
    items.push_back(with_condition ? expression() : alternatives());
    if (!take(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && items.size() == 1) return items.front();
  if (items.empty() && !(at_ > 0 && is_next(")") && tokens_[at_ - 1].text == "("))
    fail_here("an expression");
  return [items = std::move(items)](Context& in) {
    const Step step(in);
    std::vector<Value> values;
    for (const Expression& item : items) values.push_back(item(in));
    return in.sequence(std::move(values), Sequence::Kind::tuple);
  };
}

Expression ExpressionParser::expression() {
  const bool was_soft = is_soft_;
  const std::size_t num_unknown = unknown_.size();
  Expression value = alternatives();
  constexpr int most = 100;
  for (int count = 0; take("if"); ++count) {
    if (count == most) fail_here("at most 100 conditions");
    unknown_.resize(num_unknown);
    is_soft_ = true;
    const Expression holds = alternatives();
    const Nested nested(*this);
    const Expression other = take("else") ? expression() : constant(Undefined{});
    value = [value, holds, other](Context& in) {
      const Step step(in);
      return is_true(holds(in)) ? value(in) : other(in);
    };
  }
  is_soft_ = was_soft;
  return value;
}

Expression ExpressionParser::operation(std::size_t level) {
  if (level == operators.size()) return unary(true);
  if (level == comparison_level) return comparison();
  Expression first = operation(level + 1);
  std::vector<Change> changes;
  const auto is_here = [&](const std::string& sign) { return is_next(sign); };
  while (std::ranges::any_of(operators[level], is_here)) {
    const std::string sign = tokens_[at_++].text;
    Expression right = operation(level + 1);
    if (level < comparison_level)
      changes.emplace_back([is_or = sign == "or", right](Context& in, const Value& left) {
        return is_true(left) == is_or ? left : right(in);
      });
    else
      changes.emplace_back([sign, right](Context& in, const Value& left) {
        return computed(in, sign, left, right(in));
      });
  }
  return in_sequence(std::move(first), std::move(changes));
}

Expression ExpressionParser::comparison() {
  if (take("not")) {
    const Nested nested(*this);
    return [value = comparison()](Context& in) -> Value {
      const Step step(in);
      return !is_true(value(in));
    };
  }
  Expression first = operation(comparison_level + 1);
  std::vector<std::pair<std::string, Expression>> others;
  while (true) {
    std::string sign;
    for (const char* one : {"==", "!=", "<", "<=", ">", ">=", "in"})
      if (sign.empty() && take(one)) sign = one;
    if (sign.empty() && is_next("not") && is_next("in", 1)) {
      at_ += 2;
      sign = "not in";
    }
    if (sign.empty()) break;
    others.emplace_back(sign, operation(comparison_level + 1));
  }
  if (others.empty()) return first;
  return [first = std::move(first), others = std::move(others)](Context& in) {
    const Step step(in);
    Value left = first(in), result;
    for (const auto& [sign, expression] : others) {
      const Step next(in);
      Value right = expression(in);
      result = computed(in, sign, left, right);
      if (!is_true(result)) break;
      left = std::move(right);
    }
    return result;
  };
}

Expression ExpressionParser::unary(bool with_filters_too) {
  const Nested nested(*this);
  Expression value;
  if (take("-")) {
    value = [operand = unary(false)](Context& in) {
      const Step step(in);
      const Value own = operand(in);
      if (own.as<double>()) return Value(-*own.as<double>());
      return computed(in, "-", std::int64_t{0}, own);
    };
  } else {
    value = primary();
  }
  value = with_members(std::move(value));
  return with_filters_too ? with_filters(std::move(value)) : value;
}

Expression ExpressionParser::literal(bool is_list) {
  const char* const end = is_list ? "]" : "}";
  std::vector<std::pair<Expression, Expression>> items;
  while (!take(end)) {
    if (!items.empty()) {
      expect(",");
      if (take(end)) break;
    }
    Expression key = expression();
    if (!is_list) expect(":");
    items.emplace_back(key, is_list ? nullptr : expression());
  }
  if (is_list)
    return [items = std::move(items)](Context& in) {
      const Step step(in);
      std::vector<Value> values;
      for (const auto& item : items) values.push_back(item.first(in));
      return in.sequence(std::move(values));
    };
  return [items = std::move(items)](Context& in) {
    const Step step(in);
    Dict dict;
    for (const auto& [key, value] : items) {
      const Value name = key(in);
      set_entry(in, dict, name, value(in));
    }
    return in.dict(std::move(dict));
  };
}

Expression ExpressionParser::primary() {
  const Token& token = tokens_[at_];
  if (take("(")) {
    Expression value = tuple(true);
    expect(")");
    return value;
  }
  if (take("[") || take("{")) return literal(token.text == "[");
  if (token.kind == Token::Kind::string) {
    std::string text;
    while (tokens_[at_].kind == Token::Kind::string) text += tokens_[at_++].text;
    return constant(text_value(std::move(text)));
  }
  if (token.kind == Token::Kind::integer || token.kind == Token::Kind::floating) {
    const char *const begin = token.text.data(), *const end = begin + token.text.size();
    std::int64_t integer = 0;
    double number = 0.0;
    const bool is_integer = token.kind == Token::Kind::integer;
    const auto result =
        is_integer ? std::from_chars(begin, end, integer) : std::from_chars(begin, end, number);
    if (result.ec != std::errc() || result.ptr != end) fail_here("a 64-bit number");
    ++at_;
    return is_integer ? constant(integer) : constant(number);
  }
  const std::string word = name("an expression");
  if (word == "true" || word == "True") return constant(true);
  if (word == "false" || word == "False") return constant(false);
  if (word == "none" || word == "None") return constant(None{});
  load(word);
  const Text shown = *text_value(word).as<Text>();
  return [shown](Context& in) -> Value {
    in.charge(sizeof(Value));
    const std::optional<Value>* const found = in.scopes.back()->find(*shown);
    return found && *found ? **found : Undefined{shown};
  };
}

Expression ExpressionParser::with_members(Expression value) {
  std::vector<Change> changes;
  while (true) {
    if (take(".")) {
      const Token& token = tokens_[at_];
      if (token.kind == Token::Kind::integer) {
        changes.emplace_back([place = primary()](Context& in, const Value& own) {
          return element(in, own, place(in));
        });
      } else {
        changes.emplace_back([key = *text_value(name()).as<Text>()](Context& in, const Value& own) {
          return attribute(in, own, key);
        });
      }
    } else if (take("[")) {
      std::array<Expression, 3> places;
      std::size_t last = 0;
      if (!is_next(":")) places[0] = expression();
      while (last < 2 && take(":"))
        if (++last; !is_next(":") && !is_next("]")) places[last] = expression();
      expect("]");
      changes.emplace_back([places, last](Context& in, const Value& own) {
        std::array<Value, 3> values = {None{}, None{}, None{}};
        for (std::size_t i = 0; i <= last; ++i)
          if (places[i]) values[i] = places[i](in);
        return last == 0 ? element(in, own, values[0]) : slice(in, own, values);
      });
    } else if (is_next("(")) {
      changes.push_back(call_with(arguments()));
    } else {
      return in_sequence(std::move(value), std::move(changes));
    }
  }
}

Given ExpressionParser::arguments() {
  Given given;
  expect("(");
  while (!take(")")) {
    if (!given.values.empty()) {
      expect(",");
      if (take(")")) break;
    }
    const bool is_named = is_next_name() && is_next("=", 1);
    if (!is_named && !given.values.empty() && !given.values.back().first.empty())
      fail_here("only named arguments after a named argument");
    const std::string key = take("*") ? "*" : is_named ? name() : "";
    for (const auto& value : given.values)
      if (is_named && value.first == key) fail_here("arguments with different names");
    if (is_named) expect("=");
    given.values.emplace_back(key, expression());
  }
  return given;
}

void ExpressionParser::check_known(const Signature* found, const std::string& what) {
  if (!found && !is_soft_) unknown_.emplace_back(tokens_[at_ - 1].place, what);
}

Change ExpressionParser::filter() {
  const std::string called = name("the name of a filter");
  const Signature* found = find_filter(called);
  check_known(found, "a known filter");
  return applied(found, str_cat("filter '", called, '\''), is_next("(") ? arguments() : Given{});
}

Change ExpressionParser::test() {
  using Kind = Token::Kind;
  const bool is_negated = take("not");
  const std::string called = name("the name of a test");
  const Signature* found = find_test(called);
  check_known(found, "a known test");
  Given given;
  const Kind kind = tokens_[at_].kind;
  if (is_next("(")) {
    given = arguments();
  } else if ((kind == Kind::name || kind == Kind::string || kind == Kind::integer ||
              kind == Kind::floating || is_next("[") || is_next("{")) &&
             !is_next("else") && !is_next("or") && !is_next("and")) {
    if (is_next("is")) fail_here("a single test");
    given.values.emplace_back("", with_members(primary()));
  }
  Change holds = applied(found, str_cat("test '", called, '\''), std::move(given));
  if (!is_negated) return holds;
  return [holds = std::move(holds)](Context& in, Value own) -> Value {
    return !is_true(holds(in, std::move(own)));
  };
}

Expression ExpressionParser::with_filters(Expression value) {
  std::vector<Change> changes;
  while (true) {
    if (take("|"))
      changes.push_back(filter());
    else if (take("is"))
      changes.push_back(test());
    else if (is_next("("))
      changes.push_back(call_with(arguments()));
    else
      return in_sequence(std::move(value), std::move(changes));
  }
}

Arguments Given::operator()(Context& in) const {
  Arguments arguments;
  for (const auto& [key, value] : values)
    if (key.empty())
      arguments.values.push_back(value(in));
    else if (key == "*")
      std::ranges::move(items_of(in, value(in)), std::back_inserter(arguments.values));
    else
      arguments.named.emplace_back(key, value(in));
  return arguments;
}

}  // namespace weft::jinja
