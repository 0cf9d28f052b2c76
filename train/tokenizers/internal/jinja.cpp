#include "train/tokenizers/internal/jinja.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "train/tokenizers/internal/jinja_values.hpp"

namespace weft::jinja {
namespace {

// Reads a template from left to right and does what it says at once. What is not to be done, in
// the other branch of a condition, is read all the same while `is_live_` is false: values are then
// undefined, and nothing is written.
class Interpreter {
 public:
  Interpreter(std::string_view text, json variables, bool is_live)
      : text_(text), is_live_(is_live) {
    if (text_.ends_with('\n')) text_.remove_suffix(1);
    scopes_.push_back(std::move(variables));
  }

  std::string run() {
    block({});
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail_here(const std::string& expected) const {
    const std::string_view read = text_.substr(0, at_), next = text_.substr(at_, 20);
    fail<ValueError>(concatenate_text("chat template, line ", 1 + std::ranges::count(read, '\n')),
                     expected, next.empty() ? "the end" : concatenate_text('\'', next, '\''));
  }

  void step(std::size_t bytes = 0) {
    constexpr std::size_t max_steps = 1'000'000, max_bytes = 64 << 20;
    if (++steps_ > max_steps || (bytes_ += bytes) > max_bytes)
      fail_rendering("at most a million steps and 64 MiB", "more");
  }

  struct Nested {
    explicit Nested(Interpreter& in) : depth(in.depth_) {
      constexpr int deepest = 100;
      if (++depth > deepest) in.fail_here("at most 100 nested parts");
    }
    ~Nested() { --depth; }
    int& depth;
  };
  // Does a part only if `condition` holds.
  template <class Part>
  void if_live(bool condition, const Part& part) {
    const bool was_live = std::exchange(is_live_, is_live_ && condition);
    part();
    is_live_ = was_live;
  }

  // Up to a tag that ends the block ("endfor"), whose name it returns.
  std::string block(std::initializer_list<const char*> ends) {
    const Nested nested(*this);
    while (true) {
      plain_text();
      if (at_ == text_.size()) {
        if (ends.size() == 0) return "";
        fail_here(concatenate_text("{% ", *(ends.end() - 1), " %}"));
      }
      const bool is_value = text_[at_ + 1] == '{';
      at_ += 2;
      if (at_ < text_.size() && (text_[at_] == '-' || (text_[at_] == '+' && !is_value))) ++at_;
      if (is_value) {
        const Value value = expression();
        if (is_live_) {
          const std::string text = text_of(value);
          step(text.size());
          out_ += text;
        }
        end_tag("}}");
        continue;
      }
      skip_spaces();
      const std::size_t begin = at_;
      const std::string tag = name();
      if (std::ranges::find(ends, tag) != ends.end()) return tag;
      if (tag == "if") {
        condition();
      } else if (tag == "for") {
        loop();
      } else if (tag == "set") {
        assignment();
      } else if (tag == "generation") {
        end_tag("%}");
        block({"endgeneration"});
        end_tag("%}");
      } else {
        at_ = begin;
        fail_here("if, for, set or generation");
      }
    }
  }

  // Writes the text up to the next tag, without comments.
  void plain_text() {
    while (at_ < text_.size()) {
      std::size_t next = at_;
      do next = std::min(text_.find('{', next), text_.size());
      while (next < text_.size() && !is_tag(next) && ++next);
      std::string part(text_.substr(at_, next - at_));
      if (strips_next_) part = stripped(part, true, false);
      const std::string_view tag = text_.substr(next, 3);
      if (tag.size() == 3 && tag[2] == '-') {
        part = stripped(part, false, true);
      } else if (!tag.empty() && tag[1] != '{' && tag.back() != '+') {
        const std::size_t end = part.find_last_not_of(" \t") + 1;
        if (end > 0 ? part[end - 1] == '\n' : at_ == 0 || text_[at_ - 1] == '\n') part.resize(end);
      }
      if (is_live_) out_ += part;
      at_ = next;
      strips_next_ = false;
      if (tag.substr(0, 2) != "{#") return;
      at_ = std::min(text_.find("#}", at_ + 2), text_.size());
      if (at_ == text_.size()) fail_here("#}");
      strips_next_ = text_[at_ - 1] == '-';
      at_ += 2;
      if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    }
  }

  bool is_tag(std::size_t at) const {
    return at + 1 < text_.size() &&
           std::string_view("{%#").find(text_[at + 1]) != std::string::npos;
  }

  void end_tag(std::string_view end) {
    strips_next_ = take("-");
    if (!take(end)) fail_here(std::string(end));
    if (end == "%}" && at_ < text_.size() && text_[at_] == '\n') ++at_;
  }

  void condition() {
    bool is_done = false;
    for (std::string tag = "if"; tag != "endif";) {
      bool holds = tag == "else";
      if (!holds) if_live(!is_done, [&] { holds = is_true(expression()); });
      end_tag("%}");
      const bool is_chosen = holds && !is_done;
      if_live(is_chosen, [&] {
        tag = tag == "else" ? block({"endif"}) : block({"elif", "else", "endif"});
      });
      is_done = is_done || is_chosen;
    }
    end_tag("%}");
  }

  void loop() {
    std::vector<std::string> names{name()};
    while (take(",")) names.push_back(name());
    if (!take_word("in")) fail_here("in");
    const Value list = disjunction();
    const std::size_t condition_at = at_;
    json items = json::array();
    if (is_live_)
      for (const auto& [key, item] : defined(list, "a loop").items())
        items.push_back(list->is_object() ? json(key) : item);
    scopes_.push_back(json::object());
    const auto bind = [&](const json& item) {
      if (names.size() == 1) scopes_.back()[names[0]] = item;
      if (names.size() > 1 && item.size() != names.size())
        fail_rendering("as many values as names in a loop", std::to_string(item.size()));
      for (std::size_t i = 0; names.size() > 1 && i < names.size(); ++i)
        scopes_.back()[names[i]] = item[i];
    };
    // Read at least once.
    const auto for_each = [&](const json& in, std::size_t begin, const auto& use) {
      if_live(!in.empty(), [&] {
        for (std::size_t i = 0; i < std::max<std::size_t>(in.size(), 1); ++i) {
          step();
          at_ = begin;
          if (is_live_) scopes_.back() = json::object();
          if (is_live_) bind(in[i]);
          use(i);
        }
      });
    };
    if (take_word("if")) {
      const std::size_t begin = at_;
      json chosen = json::array();
      for_each(items, begin, [&](std::size_t i) {
        if (is_true(expression())) chosen.push_back(items[i]);
      });
      items = std::move(chosen);
    } else {
      at_ = condition_at;
    }
    end_tag("%}");
    const bool strips = strips_next_;
    for_each(items, at_, [&](std::size_t i) {
      strips_next_ = strips;
      if (is_live_)
        scopes_.back()["loop"] = {{"index", i + 1},
                                  {"index0", i},
                                  {"first", i == 0},
                                  {"last", i + 1 == items.size()},
                                  {"length", items.size()}};
      block({"endfor"});
      end_tag("%}");
    });
    scopes_.pop_back();
  }

  void assignment() {
    const std::string variable = name(), key = take(".") ? name() : "";
    Value value;
    if (take("=")) {
      value = expression();
    } else {
      end_tag("%}");
      const std::string before = std::exchange(out_, {});
      block({"endset"});
      value = std::exchange(out_, before);
    }
    end_tag("%}");
    if (!is_live_) return;
    json* const target = key.empty() ? &scopes_.back() : find(variable);
    if (!target || !target->is_object()) fail_rendering("a namespace", "no " + variable);
    (*target)[key.empty() ? variable : key] = value.value_or(json());
  }

  json* find(const std::string& variable) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (const auto found = scope->find(variable); found != scope->end()) return &*found;
    return nullptr;
  }

  // Expressions, the loosest operators first.
  Value expression() {
    const Nested nested(*this);
    // The value comes before its condition, which is read first.
    const std::size_t begin = at_;
    if_live(false, [&] { disjunction(); });
    const bool is_conditional = take_word("if");
    const bool holds = !is_conditional || is_true(disjunction());
    const std::size_t end = at_;
    Value value;
    if (is_live_ && holds) {
      at_ = begin;
      value = disjunction();
      at_ = end;
    }
    if (is_conditional && take_word("else"))
      if_live(!holds, [&] {
        Value other = expression();
        if (!holds) value = std::move(other);
      });
    return value;
  }

  Value disjunction() {
    Value value = conjunction();
    while (take_word("or")) {
      const bool is_enough = is_true(value);
      if_live(!is_enough, [&] {
        Value other = conjunction();
        if (!is_enough) value = std::move(other);
      });
    }
    return value;
  }

  Value conjunction() {
    Value value = negation();
    while (take_word("and")) {
      const bool is_needed = is_true(value);
      if_live(is_needed, [&] {
        Value other = negation();
        if (is_needed) value = std::move(other);
      });
    }
    return value;
  }

  Value negation() {
    const Nested nested(*this);
    return take_word("not") ? Value(!is_true(negation())) : comparison();
  }

  Value comparison() {
    Value value = operation(0);
    while (true) {
      std::string sign = take_one({"==", "!=", "<=", ">=", "<", ">"});
      const std::size_t before = at_;
      if (sign.empty() && take_word("is")) {
        const bool is_negated = take_word("not");
        const std::string test = name();
        value = is_live_ ? Value(passes(test, value) != is_negated) : Value();
        continue;
      }
      if (sign.empty() && take_word("in")) sign = "in";
      if (sign.empty() && take_word("not")) sign = take_word("in") ? "not in" : "";
      if (sign.empty()) {
        at_ = before;
        return value;
      }
      const Value right = operation(0);
      value = is_live_ ? computed(sign, value, right) : Value();
    }
  }

  Value operation(std::size_t level) {
    static const std::vector<std::vector<const char*>> signs = {
        {"~"}, {"+", "-"}, {"*", "//", "/", "%"}};
    if (level == signs.size()) return negative();
    Value value = operation(level + 1);
    while (true) {
      skip_spaces();
      const std::string_view next = text_.substr(at_, 2);
      const bool ends_tag = next == "-}" || next == "-%" || next == "%}";
      const std::string sign = ends_tag ? "" : take_one(signs[level]);
      if (sign.empty()) return value;
      const Value right = operation(level + 1);
      step();
      value = is_live_ ? computed(sign, value, right) : Value();
    }
  }

  Value negative() {
    const Nested nested(*this);
    if (!take("-")) return postfix(primary());
    const Value value = negative();
    return is_live_ ? computed("-", Value(0), value) : Value();
  }

  Value postfix(Value value) {
    while (true) {
      if (const std::string sign = take_one({".", "|"}); !sign.empty()) {
        const std::string member = name();
        const bool has_arguments = take("(");
        const Arguments given = has_arguments ? arguments() : Arguments();
        step();
        if (!is_live_)
          value.reset();
        else
          value = has_arguments || sign == "|" ? call(member, value, given)
                                               : element(value, Value(member));
      } else if (take("[")) {
        std::vector<Value> places(3);
        std::size_t last = 0;
        if (!peek(":")) places[0] = expression();
        while (last < 2 && take(":"))
          if (++last; !peek(":") && !peek("]")) places[last] = expression();
        if (!take("]")) fail_here("]");
        if (!is_live_)
          value.reset();
        else
          value =
              last > 0 ? slice(value, places[0], places[1], places[2]) : element(value, places[0]);
      } else {
        return value;
      }
    }
  }

  // Arguments up to the parenthesis that closes them.
  Arguments arguments() {
    Arguments result;
    for (bool is_first = true; !take(")"); is_first = false) {
      if (!is_first && !take(",")) fail_here(", or )");
      const std::size_t before = at_;
      const std::string key = is_name() ? name() : "";
      if (!key.empty() && !peek("==") && take("=")) {
        result.named[key] = expression().value_or(json());
      } else {
        at_ = before;
        result.values.push_back(expression());
      }
    }
    return result;
  }

  Value primary() {
    const Nested nested(*this);
    if (peek("'") || peek("\"")) return quoted_text(text_[at_]);
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) return number();
    if (take("(")) {
      Value value = expression();
      if (!take(")")) fail_here(")");
      return value;
    }
    if (take("[")) {
      json items = json::array();
      while (!take("]")) {
        if (!items.empty() && !take(",")) fail_here(", or ]");
        items.push_back(expression().value_or(json()));
      }
      return items;
    }
    if (take("{")) {
      json items = json::object();
      for (bool is_first = true; !take("}"); is_first = false) {
        if (!is_first && !take(",")) fail_here(", or }");
        const std::string key = text_of(expression());
        if (!take(":")) fail_here(":");
        items[key] = expression().value_or(json());
      }
      return items;
    }
    const std::string word = name();
    if (word == "true" || word == "True") return true;
    if (word == "false" || word == "False") return false;
    if (word == "none" || word == "None") return json();
    if (take("(")) {
      const Arguments given = arguments();
      step();
      return is_live_ ? call_function(word, given) : Value();
    }
    const json* const found = is_live_ ? find(word) : nullptr;
    return found ? Value(*found) : Value();
  }

  std::string quoted_text(char quote) {
    std::string result;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      const bool is_escaped = text_[at_] == '\\' && at_ + 1 < text_.size();
      const char c = text_[is_escaped ? ++at_ : at_];
      result += !is_escaped ? c : c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    }
    if (at_ == text_.size()) fail_here(concatenate_text("a closing ", quote));
    ++at_;
    return result;
  }

  json number() {
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_not_of("0123456789.", at_), text_.size());
    json value = json::parse(text_.substr(begin, at_ - begin), nullptr, false);
    if (value.is_discarded()) fail_here("a number");
    return value;
  }

  // What comes next, after spaces.
  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool peek(std::string_view sign) {
    skip_spaces();
    return text_.substr(at_).starts_with(sign);
  }
  bool take(std::string_view sign) {
    if (!peek(sign)) return false;
    at_ += sign.size();
    return true;
  }
  // The first of several that is there; empty when none is.
  std::string take_one(const std::vector<const char*>& signs) {
    for (const char* sign : signs)
      if (take(sign)) return sign;
    return "";
  }
  bool is_name() {
    skip_spaces();
    return at_ < text_.size() &&
           (std::isalpha(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_');
  }
  std::string name() {
    if (!is_name()) fail_here("a name");
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  bool take_word(std::string_view word) {
    const std::size_t before = at_;
    if (is_name() && name() == word) return true;
    at_ = before;
    return false;
  }

  std::string_view text_;
  bool is_live_;
  std::size_t at_ = 0;
  std::vector<json> scopes_;
  std::string out_;
  bool strips_next_ = false;
  int depth_ = 0;
  std::size_t steps_ = 0, bytes_ = 0;
};

}  // namespace

void check(std::string_view text) { Interpreter(text, json::object(), false).run(); }

std::string render(std::string_view text, const json& variables) {
  return Interpreter(text, variables, true).run();
}

}  // namespace weft::jinja
