#include "train/pretrained/chat_templates/internal/jinja_tokens.hpp"

#include <algorithm>
#include <array>

#include "weft/autograd/error.hpp"
#include "train/files/internal/ascii.hpp"
#include "train/pretrained/chat_templates/internal/jinja_text.hpp"
#include "train/text/tokenizers/internal/unicode.hpp"

namespace weft::jinja {
namespace {

bool is_name_character(char c) { return is_ascii_letter(c) || is_ascii_digit(c) || c == '_'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) {
      std::size_t next = at_;
      do next = std::min(text_.find('{', next), text_.size());
      while (next < text_.size() && !starts("{", next + 1) && !starts("%", next + 1) &&
             !starts("#", next + 1) && ++next);
      data(next, next + 2);
      if (next < text_.size()) tag(text_[next + 1]);
    }
    add(Token::Kind::end, "", at_);
    return std::move(tokens_);
  }

 private:
  bool starts(std::string_view sign, std::size_t at) const {
    return text_.substr(std::min(at, text_.size())).starts_with(sign);
  }
  bool skip(std::string_view sign) {
    const bool is_there = starts(sign, at_);
    at_ += is_there ? sign.size() : 0;
    return is_there;
  }
  void skip_space() { at_ += space_at(text_.substr(at_)); }
  void add(Token::Kind kind, std::string text, std::size_t place) {
    tokens_.push_back({kind, std::move(text), place});
  }

  // Adds the text up to the tag at `end` and moves to `next`, where a sign controls the removal of
  // white space before the tag.
  void data(std::size_t end, std::size_t next) {
    std::string_view part = text_.substr(at_, end - at_);
    if (starts("-", next)) {
      part = stripped(part, false, true);
    } else if (end < text_.size() && !starts("+", next) && !starts("{{", end)) {
      const std::size_t line = part.rfind('\n') + 1;
      if ((line > 0 || at_ == 0 || text_[at_ - 1] == '\n') && stripped(part.substr(line)).empty())
        part = part.substr(0, line);
    }
    if (!part.empty()) add(Token::Kind::data, std::string(part), at_);
    at_ = std::min(next, text_.size());
    if (starts("-", at_) || starts("+", at_)) ++at_;
  }

  // Takes the end of a tag and the white space to be removed after it.
  bool take_end(std::string_view end) {
    const bool is_block = end != "}}";
    const std::size_t begin = at_;
    const bool is_plain = is_block && skip("+"), strips = !is_plain && skip("-");
    if (!skip(end)) {
      at_ = begin;
      return false;
    }
    if (strips)
      skip_space();
    else if (is_block && !is_plain)
      skip("\n");
    return true;
  }

  void tag(char kind) {
    const std::size_t begin = at_;
    if (kind == '#') {
      const std::size_t end = text_.find("#}", at_);
      if (end == text_.npos) fail_at(text_, text_.size(), "#}");
      at_ = end > begin && (text_[end - 1] == '-' || text_[end - 1] == '+') ? end - 1 : end;
      take_end("#}");
      return;
    }
    if (kind == '%' && take_word("raw", false)) {
      raw();
      return;
    }
    const std::string_view end = kind == '{' ? "}}" : "%}";
    add(Token::Kind::sign, {'{', kind}, begin);
    brackets_.clear();
    while (true) {
      skip_space();
      const std::size_t place = at_;
      if (brackets_.empty() && take_end(end)) {
        add(Token::Kind::sign, std::string(end), place);
        return;
      }
      if (at_ == text_.size()) fail_at(text_, at_, std::string(end));
      token(text_[at_]);
    }
  }

  // Takes "raw" or "endraw" and the end of the tag.
  bool take_word(std::string_view word, bool trims) {
    const std::size_t begin = at_;
    skip_space();
    if (skip(word)) {
      skip_space();
      if (trims ? take_end("%}") : skip("%}")) return true;
      if (skip("-%}")) {
        skip_space();
        return true;
      }
    }
    at_ = begin;
    return false;
  }

  void raw() {
    const std::size_t begin = at_;
    for (std::size_t end = at_; (end = text_.find("{%", end)) != text_.npos; ++end) {
      at_ = end + 2;
      if (starts("-", at_) || starts("+", at_)) ++at_;
      if (!take_word("endraw", true)) continue;
      const std::size_t after = at_;
      at_ = begin;
      data(end, end + 2);
      at_ = after;
      return;
    }
    fail_at(text_, text_.size(), "{% endraw %}");
  }

  void token(char c) {
    const std::size_t begin = at_;
    if (is_ascii_digit(c)) {
      number();
    } else if (c == '\'' || c == '"') {
      do at_ += text_[at_] == '\\' ? 2 : 1;
      while (at_ < text_.size() && text_[at_] != c);
      if (at_ >= text_.size()) fail_at(text_, text_.size(), str_cat("a closing ", c));
      add(Token::Kind::string, unescaped(text_.substr(begin + 1, at_ - begin - 1), begin), begin);
      ++at_;
    } else if (is_name_character(c)) {
      while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
      if (at_ < text_.size() && static_cast<signed char>(text_[at_]) < 0 &&
          space_at(text_.substr(at_)) == 0)
        fail_at(text_, begin, "a name of ASCII letters");
      add(Token::Kind::name, std::string(text_.substr(begin, at_ - begin)), begin);
    } else {
      sign(c);
    }
  }

  void sign(char c) {
    const std::size_t begin = at_;
    for (const char* two : {"==", "!=", ">=", "<="})
      if (skip(two)) return add(Token::Kind::sign, two, begin);
    if (c == '/' || starts("**", at_))
      fail_at(text_, at_, "a template without /, // and **, which are not supported");
    if (std::string_view("+-*%~[](){}><=.:|,;").find(c) == std::string_view::npos)
      fail_at(text_, at_, "an operator, a name or a value");
    if (c == '(' || c == '[' || c == '{') brackets_ += c == '(' ? ')' : static_cast<char>(c + 2);
    if (c == ')' || c == ']' || c == '}') {
      if (!brackets_.ends_with(c)) fail_at(text_, at_, "a bracket that was opened");
      brackets_.pop_back();
    }
    ++at_;
    add(Token::Kind::sign, {c}, begin);
  }

  void number() {
    const std::size_t begin = at_;
    const auto skip_digits = [&] {
      while (at_ < text_.size() && is_ascii_digit(text_[at_])) ++at_;
    };
    skip_digits();
    const bool is_member = begin > 0 && text_[begin - 1] == '.';
    const bool is_floating =
        !is_member && starts(".", at_) && at_ + 1 < text_.size() && is_ascii_digit(text_[at_ + 1]);
    if (is_floating) {
      ++at_;
      skip_digits();
    }
    const std::string text(text_.substr(begin, at_ - begin));
    if ((at_ < text_.size() && is_name_character(text_[at_])) ||
        (!is_floating && text.size() > 1 && text[0] == '0'))
      fail_at(text_, begin, "a number in plain decimal digits");
    add(is_floating ? Token::Kind::floating : Token::Kind::integer, text, begin);
  }

  // Decodes a string literal as Jinja does: by Python's "unicode-escape" of its ASCII form.
  std::string unescaped(std::string_view raw, std::size_t place) const {
    constexpr std::string_view letters = "abfnrtv\\'\"", meant = "\a\b\f\n\r\t\v\\'\"";
    std::string text;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const char c = i + 1 < raw.size() && raw[i] == '\\' ? raw[++i] : '\0';
      if (c == '\0' && (raw[i] != '\\')) {
        text += raw[i];
      } else if (const std::size_t letter = letters.find(c); c != '\0' && letter != letters.npos) {
        text += meant[letter];
      } else if (c == 'x' || c == 'u' || c == 'U') {
        const std::size_t size = c == 'x' ? 2 : c == 'u' ? 4 : 8;
        const std::string_view hex = raw.substr(i + 1, size);
        const bool is_hex = hex.size() == size && std::ranges::all_of(hex, is_hexadecimal);
        const auto code = is_hex ? static_cast<char32_t>(std::stoul(std::string(hex), nullptr, 16))
                                 : char32_t{0x110000};
        if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
          fail_at(text_, place, "a string with valid escape sequences");
        unicode::append(text, code);
        i += size;
      } else if (c == 'N' || (c >= '0' && c <= '7') || static_cast<signed char>(c) < 0) {
        fail_at(text_, place, "a string without \\N, octal and non-ASCII escapes");
      } else if (c != '\n') {
        text += '\\';
        text += c;
      }
    }
    return text;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string brackets_;  // the closing brackets of all open brackets
  std::vector<Token> tokens_;
};

}  // namespace

std::string with_plain_lines(std::string_view text) {
  std::string lines;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_return = text[i] == '\r';
    if (is_return && i + 1 < text.size() && text[i + 1] == '\n') ++i;
    lines += is_return ? '\n' : text[i];
  }
  if (lines.ends_with('\n')) lines.pop_back();
  return lines;
}

std::vector<Token> tokens_of(std::string_view text) { return Lexer(text).run(); }

void fail_at(std::string_view text, std::size_t place, const std::string& expected) {
  // Does not split a character.
  std::size_t end = std::min(place + 20, text.size());
  while (end > place && end < text.size() &&
         (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;
  const std::string_view next = text.substr(place, end - place);
  fail<ValueError>(
      str_cat("chat template, line ", 1 + std::ranges::count(text.substr(0, place), '\n')),
      expected, next.empty() ? "the end" : str_cat('\'', next, '\''));
}

}  // namespace weft::jinja
