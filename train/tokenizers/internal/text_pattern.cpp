#include "train/tokenizers/internal/text_pattern.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

template <auto free>
struct FreedBy {
  template <class T>
  void operator()(T* pointer) const {
    free(pointer);
  }
};
template <class T, auto free>
using Owned = std::unique_ptr<T, FreedBy<free>>;

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR characters_of(std::string_view text) {
  return reinterpret_cast<PCRE2_SPTR>(text.data());
}

// The expression with the property White_Space for \s, as PCRE2's \s also has U+180E.
std::string with_unicode_spaces(std::string_view expression) {
  constexpr std::string_view spaces =
      R"(\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";
  std::string result;
  bool is_in_class = false;
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const char c = expression[at];
    const char next = at + 1 < expression.size() ? expression[at + 1] : '\0';
    if (c == '\\' && next == 's') {
      result.append(is_in_class ? "" : "[").append(spaces).append(is_in_class ? "" : "]");
    } else if (c == '\\' && next == 'S' && !is_in_class) {
      result.append("[^").append(spaces).append("]");
    } else {
      result += c;
      if (c == '[') is_in_class = true;
      if (c == ']') is_in_class = false;
      if (c != '\\') continue;
      result += next;
    }
    ++at;
  }
  return result;
}

// What an expression may take to match at one place: far above any that splits words.
constexpr std::uint32_t max_steps = 10'000'000;
constexpr std::size_t jit_stack_bytes = 8 << 20;

// What a thread needs to match any expression; a stack costs more than most matches.
struct Scratch {
  Scratch() {
    if (!match || !context || !stack) throw std::bad_alloc();
    pcre2_set_match_limit(context.get(), max_steps);
    pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
  }

  Owned<pcre2_match_data, pcre2_match_data_free> match{pcre2_match_data_create(1, nullptr)};
  Owned<pcre2_match_context, pcre2_match_context_free> context{pcre2_match_context_create(nullptr)};
  Owned<pcre2_jit_stack, pcre2_jit_stack_free> stack{
      pcre2_jit_stack_create(32 << 10, jit_stack_bytes, nullptr)};
};

}  // namespace

struct TextPattern::Code {
  Owned<pcre2_code, pcre2_code_free> compiled;
};

TextPattern::TextPattern(const std::string& what, std::string_view expression)
    : TextPattern(what, with_unicode_spaces(expression), PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C) {}

TextPattern::TextPattern(const std::string& what, const std::string& expression,
                         std::uint32_t options)
    : what_(what) {
  int error = 0;
  PCRE2_SIZE place = 0;
  pcre2_code* const compiled = pcre2_compile(characters_of(expression), expression.size(),
                                             PCRE2_UTF | options, &error, &place, nullptr);
  if (!compiled)
    fail<ValueError>(what, "a regular expression",
                     concatenate_text('\'', expression.substr(0, 80), "': ", message_of(error)));
  code_ = std::make_shared<const Code>(Code{Owned<pcre2_code, pcre2_code_free>(compiled)});
  // Without a compiler for this processor, expressions are interpreted.
  pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);
}

TextPattern TextPattern::literal(std::string_view text) {
  return TextPattern("pattern", std::string(text), PCRE2_LITERAL);
}

void TextPattern::for_each(
    std::string_view text,
    const std::function<void(std::size_t begin, std::size_t end)>& use) const {
  const pcre2_code* const code = code_->compiled.get();
  thread_local const Scratch scratch;
  for (std::size_t at = 0; at < text.size();) {
    const int found =
        pcre2_match(code, characters_of(text), text.size(), at, PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY,
                    scratch.match.get(), scratch.context.get());
    if (found == PCRE2_ERROR_NOMATCH) return;
    if (found < 0)
      fail<ValueError>(what_, "an expression that matches in reasonable time", message_of(found));
    const PCRE2_SIZE* const place = pcre2_get_ovector_pointer(scratch.match.get());
    const std::size_t begin = place[0], end = place[1];
    // A match may begin before the place where the search did (\K in a look-around).
    if (begin < at || end <= begin)
      fail<ValueError>(what_, "an expression without \\K", "one that moves the start of a match");
    use(begin, end);
    at = end;
  }
}

std::string TextPattern::replaced(
    std::string_view text,
    const std::function<void(std::string_view match, std::string& result)>& append) const {
  std::string result;
  std::size_t rest = 0;
  for_each(text, [&](std::size_t begin, std::size_t end) {
    result.append(text.substr(rest, begin - rest));
    append(text.substr(begin, end - begin), result);
    rest = end;
  });
  return result.append(text.substr(rest));
}

}  // namespace weft
