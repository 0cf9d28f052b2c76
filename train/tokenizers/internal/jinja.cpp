#include "train/tokenizers/internal/jinja.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "train/tokenizers/internal/jinja_tokens.hpp"
#include "train/tokenizers/internal/jinja_values.hpp"

namespace weft::jinja {

// What a template has while it is rendered.
struct Context {
  std::vector<json> scopes;
  Values values;
  std::string out;

  void write(const std::string& text) {
    values.charge(text.size());
    out += text;
  }
  json* find(const std::string& variable) {
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
      if (const auto found = scope->find(variable); found != scope->end()) return &*found;
    return nullptr;
  }
};

namespace {

using Statement = std::function<void(Context&)>;
using Expression = std::function<Value(Context&)>;
// What becomes of a value: an operator with its right operand, a member, a filter, a test.
using Step = std::function<Value(Context&, Value)>;

Expression in_sequence(Expression first, std::vector<Step> steps) {
  if (steps.empty()) return first;
  return [first = std::move(first), steps = std::move(steps)](Context& in) {
    in.values.charge(steps.size());
    Value value = first(in);
    for (const Step& step : steps) value = step(in, value);
    return value;
  };
}

json copy_of(Value value) { return value ? *value : json(); }

// Operators with two operands, the loosest first.
const std::vector<std::vector<std::string>> operators = {
    {"or"},     {"and"}, {"==", "!=", "<", "<=", ">", ">=", "in", "not in"},
    {"+", "-"}, {"~"},   {"*", "/", "//", "%"}};
constexpr std::size_t loosest = 0, comparison = 2;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), tokens_(tokens_of(text)) {}

  // Up to a tag that ends the block ("endfor"), which is taken.
  Statement block(std::initializer_list<const char*> ends) {
    const Nested nested(*this);
    std::vector<Statement> parts;
    while (true) {
      const Token& token = tokens_[at_];
      if (token.kind == Token::Kind::text) {
        ++at_;
        parts.emplace_back([text = token.text](Context& in) { in.write(text); });
      } else if (take("{{")) {
        parts.emplace_back([value = expression()](Context& in) { in.write(text_of(value(in))); });
        expect("}}");
      } else {
        if (!take("{%") && ends.begin()[0] != token.text)
          fail_here(concatenate_text("{% ", ends.end()[-1], " %}"));
        for (const char* end : ends)
          if (take(end))
            return [parts](Context& in) {
              in.values.charge(sizeof(json) * parts.size());
              for (const Statement& part : parts) part(in);
            };
        if (take("if"))
          parts.push_back(condition());
        else if (take("for"))
          parts.push_back(loop());
        else if (take("set"))
          parts.push_back(assignment());
        else if (take("generation"))
          parts.push_back(enclosed("endgeneration"));
        else
          fail_here("if, for, set or generation");
      }
    }
  }

 private:
  [[noreturn]] void fail_here(const std::string& expected) const {
    fail_at(text_, tokens_[at_].place, expected);
  }
  bool is_next(std::string_view sign) const {
    const Token& token = tokens_[at_];
    return (token.kind == Token::Kind::sign || token.kind == Token::Kind::name) &&
           token.text == sign;
  }
  bool take(std::string_view sign) {
    const bool is_there = is_next(sign);
    at_ += is_there ? 1 : 0;
    return is_there;
  }
  void expect(const char* sign) {
    if (!take(sign)) fail_here(sign);
  }
  std::string name() {
    if (tokens_[at_].kind != Token::Kind::name) fail_here("a name");
    return tokens_[at_++].text;
  }

  struct Nested {
    explicit Nested(Parser& in) : depth(in.depth_) {
      constexpr int deepest = 100;
      if (++depth > deepest) in.fail_here("at most 100 nested parts");
    }
    ~Nested() { --depth; }
    int& depth;
  };

  // The rest of a tag, a block, and the tag that ends it.
  Statement enclosed(const char* end) {
    expect("%}");
    Statement inner = block({end});
    expect("%}");
    return inner;
  }

  Statement condition() {
    const Nested nested(*this);
    Expression holds = expression();
    expect("%}");
    Statement chosen = block({"elif", "else", "endif"}), other = [](Context&) {};
    const std::string& end = tokens_[at_ - 1].text;
    if (end == "elif")
      other = condition();
    else if (end == "else")
      other = enclosed("endif");
    else
      expect("%}");
    return [=](Context& in) { is_true(holds(in)) ? chosen(in) : other(in); };
  }

  Statement loop() {
    std::vector<std::string> names;
    do names.push_back(name());
    while (take(","));
    expect("in");
    const Expression list = operation(loosest);
    const Expression is_used = take("if") ? expression() : Expression();
    const Statement body = enclosed("endfor");
    return [=](Context& in) {
      const json all = items_of(defined(list(in), "a loop"));
      in.values.charge(all);
      in.scopes.push_back(json::object());
      const auto bind = [&](const json& item) {
        if (names.size() > 1 && item.size() != names.size())
          fail_rendering("as many values as names in a loop", std::to_string(item.size()));
        in.values.charge(item);
        in.scopes.back() = json::object();
        for (std::size_t i = 0; i < names.size(); ++i)
          in.scopes.back()[names[i]] = names.size() == 1 ? item : item[i];
      };
      std::vector<const json*> items;
      for (const json& item : all) {
        if (is_used) bind(item);
        if (!is_used || is_true(is_used(in))) items.push_back(&item);
      }
      for (std::size_t i = 0; i < items.size(); ++i) {
        bind(*items[i]);
        in.scopes.back()["loop"] = {{"index", i + 1},
                                    {"index0", i},
                                    {"first", i == 0},
                                    {"last", i + 1 == items.size()},
                                    {"length", items.size()}};
        body(in);
      }
      in.scopes.pop_back();
    };
  }

  Statement assignment() {
    const std::string variable = name(), key = take(".") ? name() : "";
    Expression value;
    if (take("=")) {
      value = expression();
      expect("%}");
    } else {
      value = [inner = enclosed("endset")](Context& in) {
        const std::string before = std::exchange(in.out, {});
        inner(in);
        return in.values.keep(std::exchange(in.out, before));
      };
    }
    return [=](Context& in) {
      json copy = copy_of(value(in));
      json* const target = key.empty() ? &in.scopes.back() : in.find(variable);
      if (!target || !target->is_object()) fail_rendering("a namespace", "no " + variable);
      in.values.charge(copy);
      (*target)[key.empty() ? variable : key] = std::move(copy);
      if (!key.empty()) in.values.charge(*target);
    };
  }

  Expression expression() {
    const Nested nested(*this);
    const Expression value = operation(loosest);
    if (!take("if")) return value;
    const Expression holds = operation(loosest);
    const Expression other =
        take("else") ? expression() : [](Context&) -> Value { return nullptr; };
    return [=](Context& in) { return is_true(holds(in)) ? value(in) : other(in); };
  }

  Expression operation(std::size_t level) {
    if (level == operators.size()) return with_filters(negative());
    if (level == comparison && take("not")) {
      const Nested nested(*this);
      return [value = operation(comparison)](Context& in) {
        return in.values.keep(!is_true(value(in)));
      };
    }
    const Expression first = operation(level + 1);
    std::vector<Step> steps;
    const auto is_here = [&](const std::string& sign) { return is_next(sign); };
    while (std::ranges::any_of(operators[level], is_here)) {
      const std::string sign = tokens_[at_++].text;
      const Expression right = operation(level + 1);
      if (sign == "or" || sign == "and")
        steps.emplace_back([=](Context& in, Value left) {
          return is_true(left) == (sign == "or") ? left : right(in);
        });
      else
        steps.emplace_back(
            [=](Context& in, Value left) { return computed(in.values, sign, left, right(in)); });
    }
    return in_sequence(first, std::move(steps));
  }

  Expression negative() {
    if (!take("-")) return with_members(primary());
    const Nested nested(*this);
    return [value = negative()](Context& in) {
      return computed(in.values, "-", in.values.keep(0), value(in));
    };
  }

  // Members, elements and methods of a value.
  Expression with_members(Expression value) {
    std::vector<Step> steps;
    while (true) {
      if (take(".")) {
        const std::string member = name();
        if (take("("))
          steps.push_back(function(member));
        else
          steps.emplace_back(
              [key = json(member)](Context&, Value own) { return element(own, &key); });
      } else if (take("[")) {
        std::vector<Expression> places(3, [](Context&) -> Value { return nullptr; });
        std::size_t last = 0;
        if (!is_next(":")) places[0] = expression();
        while (last < 2 && take(":"))
          if (++last; !is_next(":") && !is_next("]")) places[last] = expression();
        expect("]");
        steps.emplace_back([=](Context& in, Value own) {
          const Value begin = places[0](in);
          if (last == 0) return element(own, begin);
          return slice(in.values, own, begin, places[1](in), places[2](in));
        });
      } else {
        return in_sequence(std::move(value), std::move(steps));
      }
    }
  }

  Expression with_filters(Expression value) {
    std::vector<Step> steps;
    while (true) {
      if (take("|")) {
        const std::string filter = name();
        steps.push_back(take("(") ? function(filter) : [=](Context& in, Value own) {
          return call(in.values, filter, own, {});
        });
      } else if (take("is")) {
        const bool is_negated = take("not");
        steps.emplace_back([=, test = name()](Context& in, Value own) {
          return in.values.keep(passes(test, own) != is_negated);
        });
      } else {
        return in_sequence(std::move(value), std::move(steps));
      }
    }
  }

  // Calls `use` for each of what stands between commas, up to the bracket that ends them.
  template <class Use>
  void list(const char* end, const Use& use) {
    for (bool is_first = true; !take(end); is_first = false) {
      if (!is_first && !take(",")) fail_here(concatenate_text(", or ", end));
      if (is_first || !is_next(end)) use();
    }
  }

  // A function of a value, or without one, after the parenthesis.
  Step function(const std::string& called) {
    std::vector<std::pair<std::string, Expression>> given;
    list(")", [&] {
      const bool is_named = tokens_[at_].kind == Token::Kind::name && tokens_[at_ + 1].text == "=";
      std::string key = is_named ? name() : "";
      if (is_named) expect("=");
      given.emplace_back(std::move(key), expression());
    });
    return [=](Context& in, Value own) {
      Arguments arguments;
      for (const auto& [key, value] : given)
        if (key.empty())
          arguments.values.push_back(value(in));
        else
          arguments.named[key] = copy_of(value(in));
      in.values.charge(arguments.named);
      return call(in.values, called, own, arguments);
    };
  }

  Expression primary() {
    const Token& token = tokens_[at_];
    const auto constant = [](json value) { return [value](Context&) -> Value { return &value; }; };
    if (take("(")) {
      Expression value = expression();
      expect(")");
      return value;
    }
    if (take("[") || take("{")) {
      const bool is_list = token.text == "[";
      std::vector<std::pair<Expression, Expression>> items;
      list(is_list ? "]" : "}", [&] {
        Expression key = expression();
        if (!is_list) expect(":");
        items.emplace_back(key, is_list ? key : expression());
      });
      return [=](Context& in) {
        json all = is_list ? json::array() : json::object();
        for (const auto& [key, item] : items)
          (is_list ? all.emplace_back() : all[text_of(key(in))]) = copy_of(item(in));
        return in.values.keep(std::move(all));
      };
    }
    if (token.kind == Token::Kind::string || token.kind == Token::Kind::number) {
      json value = token.text;
      if (token.kind == Token::Kind::number) value = json::parse(token.text, nullptr, false);
      if (value.is_discarded()) fail_here("a number");
      ++at_;
      return constant(std::move(value));
    }
    const std::string word = name();
    if (word == "true" || word == "True") return constant(true);
    if (word == "false" || word == "False") return constant(false);
    if (word == "none" || word == "None") return constant(nullptr);
    if (take("(")) return [call = function(word + "()")](Context& in) { return call(in, nullptr); };
    return [=](Context& in) -> Value { return in.find(word); };
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Template::Template(std::string_view text) : write_(Parser(text).block({""})) {}

std::string Template::render(const json& variables) const {
  Context in;
  in.scopes.push_back(variables);
  write_(in);
  return std::move(in.out);
}

}  // namespace weft::jinja
