#include "train/pretrained/chat_templates/internal/jinja.hpp"

#include <initializer_list>
#include <tuple>

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"
#include "train/pretrained/chat_templates/internal/jinja_expressions.hpp"

namespace weft::jinja {

namespace {

class Parser : ExpressionParser {
 public:
  using ExpressionParser::uses_date;

  explicit Parser(std::string_view text) : ExpressionParser(text) {}

  std::function<void(Context&)> run() {
    const auto names = std::make_shared<Names>();
    names_ = names.get();
    Statement body = block({""});
    if (!unknown_.empty()) fail_at(text_, unknown_.front().first, unknown_.front().second);
    return [names, body = std::move(body)](Context& in) {
      const OpenScope scope(in, *names, nullptr);
      body(in);
    };
  }

  bool has_generation = false;

 private:
  // Parses a part of a template that has its own scope.
  template <class Parse>
  auto in_scope(Names& names, const Parse& parse) {
    const auto before = std::tuple(names_, branches_, is_soft_);
    std::tie(names_, branches_, is_soft_) = std::tuple(&names, 0, false);
    auto result = parse();
    std::tie(names_, branches_, is_soft_) = before;
    return result;
  }

  // Parses statements up to a tag that ends the block, such as "endfor". Takes the name of this
  // tag.
  Statement block(std::initializer_list<const char*> ends) {
    const Nested nested(*this);
    std::vector<Statement> parts;
    while (true) {
      const Token& token = tokens_[at_];
      if (token.kind == Token::Kind::data) {
        ++at_;
        parts.emplace_back([text = token.text](Context& in) {
          in.write(text);
          return Flow::next;
        });
      } else if (take("{{")) {
        parts.push_back(output(tuple(true)));
        expect("}}");
      } else if (token.kind == Token::Kind::end) {
        if (*ends.begin()[0] != '\0') fail_here(str_cat("{% ", ends.end()[-1], " %}"));
        return sequence(std::move(parts));
      } else {
        expect("{%");
        for (const char* end : ends)
          if (*end != '\0' && take(end)) return sequence(std::move(parts));
        parts.push_back(statement());
        expect("%}");
      }
    }
  }

  static Statement sequence(std::vector<Statement> parts) {
    return [parts = std::move(parts)](Context& in) {
      const Step step(in);
      for (const Statement& part : parts) {
        in.charge(sizeof(Value));
        if (const Flow flow = part(in); flow != Flow::next) return flow;
      }
      return Flow::next;
    };
  }

  static Statement output(Expression value) {
    return [value = std::move(value)](Context& in) {
      in.write(str(in, value(in)));
      return Flow::next;
    };
  }

  // Parses the end of a tag, and then a block.
  Statement body(std::initializer_list<const char*> ends) {
    take(":");
    expect("%}");
    return block(ends);
  }

  Statement statement() {
    const std::size_t begin = at_;
    const std::string word = name("the name of a tag");
    if (word == "if") return condition();
    if (word == "for") return loop();
    if (word == "set") return assignment();
    if (word == "macro") return macro();
    if (word == "generation") return generation();
    if ((word == "break" || word == "continue") && is_in_loop_)
      return [flow = word == "break" ? Flow::leave_loop : Flow::next_item](Context& in) {
        in.charge(1);
        return flow;
      };
    at_ = begin;
    fail_here("if, for, set, macro, generation, or in a loop break or continue");
  }

  Statement condition() {
    std::vector<std::pair<Expression, Statement>> cases;
    const bool was_soft = std::exchange(is_soft_, true);
    while (true) {
      const std::string tag = tokens_[at_ - 1].text;
      Expression holds = tag == "else" ? Expression() : tuple(false);
      ++branches_;
      Statement chosen = tag == "else" ? body({"endif"}) : body({"elif", "else", "endif"});
      --branches_;
      cases.emplace_back(std::move(holds), std::move(chosen));
      if (tokens_[at_ - 1].text == "endif") break;
    }
    is_soft_ = was_soft;
    return [cases = std::move(cases)](Context& in) {
      const Step step(in);
      for (const auto& [holds, chosen] : cases)
        if (!holds || is_true(holds(in))) return chosen(in);
      return Flow::next;
    };
  }

  // Parses names: parameters of a scope, or variables to set.
  Target target(std::string_view end, bool may_have_attributes) {
    Target result;
    while (!is_next(end) && !is_next("%}")) {
      Target& part = result.parts.emplace_back();
      part.name = name();
      for (const char* word : {"true", "false", "none", "True", "False", "None"})
        if (part.name == word) fail_here("the name of a variable");
      if (may_have_attributes && take(".")) part.attribute = name();
      if (part.name == "loop" && part.attribute.empty() &&
          (loops_around_ > 0 || !may_have_attributes))
        fail_here("a name other than loop");
      if (!take(",")) break;
      result.is_tuple = true;
    }
    if (result.parts.empty()) fail_here("a name");
    return result.is_tuple ? result : Target(result.parts.front());
  }
  void declare(const Target& made, bool is_parameter) {
    for (const Target& part : made.parts) declare(part, is_parameter);
    if (made.is_tuple) return;
    if (is_parameter)
      (*names_)[made.name].is_parameter = true;
    else if (!made.attribute.empty())
      load(made.name);
    else
      store(made.name);
  }

  struct LoopCode {
    Target target;
    Expression items, test;
    Names names, test_names, other_names;
    Statement body, other;
  };

  Statement loop() {
    auto code = std::make_shared<LoopCode>();
    code->target = target("in", false);
    expect("in");
    code->items = tuple(false, "recursive");
    if (take("if"))
      code->test = in_scope(code->test_names, [&] {
        declare(code->target, true);
        return expression();
      });
    if (is_next("recursive")) fail_here("a loop without recursive, which is not supported");
    const bool was_in_loop = std::exchange(is_in_loop_, true);
    ++loops_around_;
    code->body = in_scope(code->names, [&] {
      names_->emplace("loop", Use{.is_parameter = true});
      declare(code->target, true);
      return body({"endfor", "else"});
    });
    is_in_loop_ = was_in_loop;
    if (tokens_[at_ - 1].text == "else")
      code->other = in_scope(code->other_names, [&] { return body({"endfor"}); });
    --loops_around_;
    return
        [code = std::shared_ptr<const LoopCode>(code)](Context& in) { return looped(in, *code); };
  }

  static Flow looped(Context& in, const LoopCode& code) {
    const Step step(in);
    Items items(in, code.items(in));
    Scope* const outer = in.scopes.back();
    const auto loop = std::make_shared<Loop>();
    const struct End {
      ~End() { of.more = nullptr; }
      Loop& of;
    } end{*loop};
    loop->more = [&] {
      while (std::optional<Value> item = items.next()) {
        if (code.test) {
          OpenScope scope(in, code.test_names, outer);
          code.target.assign(in, *item);
          if (!is_true(code.test(in))) continue;
          if (code.target.is_tuple) item = in.sequence(items_of(in, *item), Sequence::Kind::tuple);
        }
        loop->items.push_back(*std::move(item));
        return true;
      }
      return false;
    };
    bool has_ended_one = false;
    for (; loop->index < loop->items.size() || loop->more(); ++loop->index) {
      OpenScope scope(in, code.names, outer);
      scope.set("loop", loop);
      code.target.assign(in, loop->items[loop->index]);
      const Flow flow = code.body(in);
      if (flow == Flow::leave_loop) break;
      has_ended_one = has_ended_one || flow == Flow::next;
    }
    if (has_ended_one || !code.other) return Flow::next;
    const OpenScope scope(in, code.other_names, outer);
    return code.other(in);
  }

  Statement assignment() {
    Target made = target("=", true);
    if (take("=")) {
      Expression value = tuple(true);
      declare(made, false);
      return [made = std::move(made), value = std::move(value)](Context& in) {
        const Step step(in);
        made.assign(in, value(in));
        return Flow::next;
      };
    }
    declare(made, false);
    const auto names = std::make_shared<Names>();
    Statement inner = in_scope(*names, [&] { return body({"endset"}); });
    return [=, made = std::move(made), inner = std::move(inner)](Context& in) {
      const Step step(in);
      auto [text, flow] = [&] {
        const OpenScope scope(in, *names, in.scopes.back());
        return captured(in, inner);
      }();
      if (flow == Flow::next) made.assign(in, in.text(std::move(text)));
      return flow;
    };
  }

  // Parses the body of a macro or a block that Jinja compiles to a Python function, so that break
  // and continue cannot leave it.
  template <class Parse>
  Statement in_function(Names& names, const Parse& parse) {
    const bool was_in_loop = std::exchange(is_in_loop_, false);
    const bool was_in_macro = std::exchange(is_in_macro_, true);
    Statement inner = in_scope(names, parse);
    is_in_loop_ = was_in_loop;
    is_in_macro_ = was_in_macro;
    return inner;
  }

  Statement macro() {
    auto code = std::make_shared<MacroCode>();
    code->name = name();
    store(code->name);
    code->body = in_function(code->names, [&] {
      expect("(");
      while (!take(")")) {
        if (!code->parameters.empty()) expect(",");
        const std::string parameter = name();
        for (const char* word : {"caller", "varargs", "kwargs", "loop"})
          if (parameter == word) fail_here("a parameter not named caller, varargs, kwargs or loop");
        for (const auto& other : code->parameters)
          if (other.first == parameter) fail_here("parameters with different names");
        (*names_)[parameter].is_parameter = true;
        const bool has_fallback = take("=");
        if (!has_fallback && !code->parameters.empty() && code->parameters.back().second)
          fail_here("a parameter with a default");
        code->parameters.emplace_back(parameter, has_fallback ? expression() : Expression());
      }
      return body({"endmacro"});
    });
    return [code = std::shared_ptr<const MacroCode>(code)](Context& in) {
      in.charge(sizeof(Macro));
      *in.scopes.back()->find(code->name) = std::make_shared<const Macro>(
          Macro{code, in.scopes.size() - 1, in.scopes.back()->number});
      return Flow::next;
    };
  }

  Statement generation() {
    has_generation = true;
    const auto names = std::make_shared<Names>();
    Statement inner = in_function(*names, [&] { return body({"endgeneration"}); });
    return [=, inner = std::move(inner)](Context& in) {
      const Step step(in);
      const std::size_t begin = in.out.size();
      const OpenScope scope(in, *names, in.scopes.back());
      inner(in);
      if (in.captures > 0) in.generated.reset();
      if (in.generated) in.generated->emplace_back(begin, in.out.size());
      return Flow::next;
    };
  }

  bool is_in_loop_ = false;  // whether the same function contains the enclosing loop
  int loops_around_ = 0;
};

}  // namespace

Template::Template(std::string_view text) {
  check_utf8(text, "chat template");
  const std::string plain = with_plain_lines(text);
  Parser parser(plain);
  write_ = parser.run();
  marks_answers_ = parser.has_generation;
  uses_date_ = parser.uses_date;
}

Rendering Template::render(const nlohmann::ordered_json& variables, std::chrono::local_seconds now,
                           Budget& budget) const {
  Context in(budget, now);
  for (const auto& [name, value] : variables.items()) in.variables.emplace(name, in.value(value));
  write_(in);
  return {std::move(in.out), std::move(in.generated)};
}

}  // namespace weft::jinja
