#include "train/tokenizers/internal/jinja.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "train/tokenizers/internal/jinja_tokens.hpp"
#include "train/tokenizers/internal/jinja_values.hpp"

namespace weft::jinja {
namespace {

// Operators with two operands, the higher the tighter.
const std::map<std::string_view, int>& levels() {
  static const std::map<std::string_view, int> all = {
      {"or", 0}, {"and", 1}, {"==", 2}, {"!=", 2},     {"<", 2}, {"<=", 2},
      {">", 2},  {">=", 2},  {"in", 2}, {"not in", 2}, {"+", 3}, {"-", 3},
      {"~", 4},  {"*", 5},   {"/", 5},  {"//", 5},     {"%", 5}};
  return all;
}
constexpr int loosest = 0, comparison = 2;

// Reads a template from left to right and does what it says at once. What is not to be done, in
// the other branch of a condition, is read all the same while `is_live_` is false: values are then
// undefined, and nothing is written.
class Interpreter {
 public:
  Interpreter(std::string_view text, json variables, bool is_live)
      : text_(text), tokens_(tokens_of(text)), is_live_(is_live) {
    scopes_.push_back(std::move(variables));
  }

  std::string run() {
    block({""});
    return std::move(out_);
  }

 private:
  using Kind = Token::Kind;

  const Token& next() {
    constexpr std::size_t most = 20'000'000;
    if (++steps_ > most) fail_rendering("at most 20 million steps", "more");
    return tokens_[at_++];
  }
  [[noreturn]] void fail_here(const std::string& expected) const {
    fail_at(text_, tokens_[at_].place, expected);
  }
  bool is_next(std::string_view sign) const {
    const Token& token = tokens_[at_];
    return (token.kind == Kind::sign || token.kind == Kind::name) && token.text == sign;
  }
  bool take(std::string_view sign) {
    if (!is_next(sign)) return false;
    next();
    return true;
  }
  void expect(const char* sign) {
    if (!take(sign)) fail_here(sign);
  }
  std::string name() {
    if (tokens_[at_].kind != Kind::name) fail_here("a name");
    return next().text;
  }

  struct Nested {
    explicit Nested(Interpreter& in) : depth(in.depth_) {
      constexpr int deepest = 100;
      if (++depth > deepest) in.fail_here("at most 100 nested parts");
    }
    ~Nested() { --depth; }
    int& depth;
  };
  // Does a part, only reading it unless `condition` holds.
  template <class Part>
  void if_live(bool condition, const Part& part) {
    const bool was_live = std::exchange(is_live_, is_live_ && condition);
    part();
    is_live_ = was_live;
  }
  // What `compute` returns, if it is to be done.
  template <class Compute>
  Value kept(const Compute& compute) {
    return is_live_ ? values_.keep(compute()) : nullptr;
  }
  void write(const std::string& text) {
    if (!is_live_) return;
    values_.charge(text.size());
    out_ += text;
  }

  // Up to a tag that ends the block ("endfor"), whose name it returns.
  std::string block(std::initializer_list<const char*> ends) {
    const Nested nested(*this);
    while (true) {
      if (tokens_[at_].kind == Kind::text) {
        write(next().text);
      } else if (take("{{")) {
        write(text_of(expression()));
        expect("}}");
      } else {
        const bool is_end = !take("{%");
        if (is_end && ends.begin()[0][0] != '\0')
          fail_here(concatenate_text("{% ", *(ends.end() - 1), " %}"));
        for (const char* end : ends)
          if (take(end)) return end;
        if (take("if"))
          condition();
        else if (take("for"))
          loop();
        else if (take("set"))
          assignment();
        else if (take("generation"))
          enclosed("endgeneration");
        else
          fail_here("if, for, set or generation");
      }
    }
  }

  // The rest of a tag, a block, and the tag that ends it.
  void enclosed(const char* end) {
    expect("%}");
    block({end});
    expect("%}");
  }

  void condition() {
    bool is_done = false;
    for (std::string tag = "if"; tag != "endif";) {
      bool holds = tag == "else";
      if (!holds) if_live(!is_done, [&] { holds = is_true(expression()); });
      expect("%}");
      const bool is_chosen = holds && !is_done;
      if_live(is_chosen, [&] {
        tag = tag == "else" ? block({"endif"}) : block({"elif", "else", "endif"});
      });
      is_done = is_done || is_chosen;
    }
    expect("%}");
  }

  void loop() {
    std::vector<std::string> names;
    do names.push_back(name());
    while (take(","));
    expect("in");
    const Value list = operation(loosest);
    json items = json::array();
    if (is_live_) {
      values_.charge(defined(list, "a loop"));
      for (const auto& [key, item] : list->items())
        items.push_back(list->is_object() ? json(key) : item);
    }
    // Does a part with the names of each item; it is read at least once.
    const auto for_each = [&](const auto& part) {
      const std::size_t begin = at_;
      scopes_.push_back(json::object());
      if_live(!items.empty(), [&] {
        for (std::size_t i = 0; i < std::max<std::size_t>(items.size(), 1); ++i) {
          at_ = begin;
          if (is_live_) scopes_.back() = names_of(items[i], names);
          part(i);
        }
      });
      scopes_.pop_back();
    };
    if (take("if")) {
      json chosen = json::array();
      for_each([&](std::size_t i) {
        if (is_true(expression())) chosen.push_back(items[i]);
      });
      items = std::move(chosen);
    }
    for_each([&](std::size_t i) {
      if (is_live_)
        scopes_.back()["loop"] = {{"index", i + 1},
                                  {"index0", i},
                                  {"first", i == 0},
                                  {"last", i + 1 == items.size()},
                                  {"length", items.size()}};
      enclosed("endfor");
    });
  }

  // The variables of a loop for one item.
  json names_of(const json& item, const std::vector<std::string>& names) {
    values_.charge(item);
    if (names.size() == 1) return {{names[0], item}};
    if (!item.is_array() || item.size() != names.size())
      fail_rendering("as many values as names in a loop", std::to_string(item.size()));
    json variables = json::object();
    for (std::size_t i = 0; i < names.size(); ++i) variables[names[i]] = item[i];
    return variables;
  }

  void assignment() {
    const std::string variable = name(), key = take(".") ? name() : "";
    Value value = nullptr;
    if (take("=")) {
      value = expression();
      expect("%}");
    } else {
      const std::string before = std::exchange(out_, {});
      enclosed("endset");
      std::string text = std::exchange(out_, before);
      value = kept([&] { return json(std::move(text)); });
    }
    if (!is_live_) return;
    json* const target = key.empty() ? &scopes_.back() : find(variable);
    if (!target || !target->is_object()) fail_rendering("a namespace", "no " + variable);
    json copy = value ? *value : json();
    values_.charge(copy);
    (*target)[key.empty() ? variable : key] = std::move(copy);
    if (!key.empty()) values_.charge(*target);
  }

  json* find(const std::string& variable) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (const auto found = scope->find(variable); found != scope->end()) return &*found;
    return nullptr;
  }

  Value expression() {
    const Nested nested(*this);
    // The value comes before its condition, which is read first.
    const std::size_t begin = at_;
    if_live(false, [&] { operation(loosest); });
    const bool is_conditional = take("if");
    const bool holds = !is_conditional || is_true(operation(loosest));
    const std::size_t end = at_;
    Value value = nullptr;
    if (is_live_ && holds) {
      at_ = begin;
      value = operation(loosest);
      at_ = end;
    }
    if (is_conditional && take("else"))
      if_live(!holds, [&] {
        const Value other = expression();
        if (!holds) value = other;
      });
    return value;
  }

  // Operators from a level on.
  Value operation(int level) {
    const Nested nested(*this);
    Value value = nullptr;
    if (take("not")) {
      const bool holds = is_true(operation(comparison));
      value = kept([&] { return json(!holds); });
    } else {
      value = filtered(negative());
    }
    while (true) {
      const Token& token = tokens_[at_];
      const auto found = token.kind == Kind::string ? levels().end() : levels().find(token.text);
      if (found == levels().end() || found->second < level) return value;
      const std::string sign = next().text;
      const bool is_word = sign == "and" || sign == "or";
      const bool is_decided = is_word && is_true(value) == (sign == "or");
      Value right = nullptr;
      if_live(!is_decided, [&] { right = operation(found->second + 1); });
      if (!is_word)
        value = kept([&] {
          for (const Value operand : {value, right})
            if (operand) values_.charge(*operand);
          return computed(sign, value, right);
        });
      else if (!is_decided)
        value = right;
    }
  }

  Value negative() {
    const Nested nested(*this);
    if (!take("-")) return postfix(primary());
    const Value value = negative();
    const json zero = 0;
    return kept([&] { return computed("-", &zero, value); });
  }

  // Members, elements and methods of a value.
  Value postfix(Value value) {
    while (true) {
      if (take(".")) {
        const json member = name();
        if (take("(")) {
          const Arguments given = arguments();
          value = is_live_ ? call(values_, member, value, given) : nullptr;
        } else {
          value = is_live_ ? element(value, &member) : nullptr;
        }
      } else if (take("[")) {
        std::vector<Value> places(3);
        std::size_t last = 0;
        if (!is_next(":")) places[0] = expression();
        while (last < 2 && take(":"))
          if (++last; !is_next(":") && !is_next("]")) places[last] = expression();
        expect("]");
        if (last > 0)
          value = kept([&] { return slice(values_, value, places); });
        else
          value = is_live_ ? element(value, places[0]) : nullptr;
      } else {
        return value;
      }
    }
  }

  // Filters and tests of a value.
  Value filtered(Value value) {
    while (true) {
      if (take("|")) {
        const std::string filter = name();
        const Arguments given = take("(") ? arguments() : Arguments();
        value = postfix(is_live_ ? call(values_, filter, value, given) : nullptr);
      } else if (take("is")) {
        const bool is_negated = take("not");
        const std::string test = name();
        value = kept([&] { return json(passes(test, value) != is_negated); });
      } else {
        return value;
      }
    }
  }

  // Values between commas up to the bracket that ends them.
  template <class Use>
  void list(const char* end, const Use& use) {
    for (bool is_first = true; !take(end); is_first = false) {
      if (!is_first && !take(",")) fail_here(concatenate_text(", or ", end));
      if (is_first || !is_next(end)) use();
    }
  }

  Arguments arguments() {
    Arguments result;
    list(")", [&] {
      std::string key;
      if (tokens_[at_].kind == Kind::name && tokens_[at_ + 1].text == "=") {
        key = name();
        next();
      }
      const Value value = expression();
      if (key.empty())
        result.values.push_back(value);
      else
        result.named[key] = value ? *value : json();
    });
    values_.charge(result.named);
    return result;
  }

  Value primary() {
    const Token& token = tokens_[at_];
    json items;
    if (take("(")) {
      const Value value = expression();
      expect(")");
      return value;
    }
    if (take("[")) {
      items = json::array();
      list("]", [&] {
        const Value value = expression();
        items.push_back(value ? *value : json());
      });
    } else if (take("{")) {
      items = json::object();
      list("}", [&] {
        const std::string key = text_of(expression());
        expect(":");
        const Value value = expression();
        items[key] = value ? *value : json();
      });
    } else if (token.kind == Kind::string) {
      items = next().text;
    } else if (token.kind == Kind::number) {
      items = json::parse(token.text, nullptr, false);
      if (items.is_discarded()) fail_here("a number");
      next();
    } else {
      const std::string word = name();
      if (word == "true" || word == "True" || word == "false" || word == "False") {
        items = word == "true" || word == "True";
      } else if (take("(")) {
        const Arguments given = arguments();
        return kept([&] { return call_function(word, given); });
      } else if (word != "none" && word != "None") {
        return is_live_ ? find(word) : nullptr;
      }
    }
    return kept([&] { return std::move(items); });
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  bool is_live_;
  std::vector<json> scopes_;
  Values values_;
  std::string out_;
  int depth_ = 0;
  std::size_t steps_ = 0;
};

}  // namespace

void check(std::string_view text) { Interpreter(text, json::object(), false).run(); }

std::string render(std::string_view text, const json& variables) {
  return Interpreter(text, variables, true).run();
}

}  // namespace weft::jinja
