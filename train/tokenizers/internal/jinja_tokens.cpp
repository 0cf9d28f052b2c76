#include "train/tokenizers/internal/jinja_tokens.hpp"

#include <algorithm>
#include <cctype>

#include "weft/autograd/error.hpp"

namespace weft::jinja {
namespace {

constexpr std::string_view white_space = " \t\n\r\v\f";

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {
    if (text_.ends_with('\n')) text_.remove_suffix(1);
  }

  std::vector<Token> run() {
    while (at_ < text_.size()) {
      plain_text();
      if (at_ < text_.size()) tag();
    }
    tokens_.push_back({Token::Kind::sign, "", at_});
    return std::move(tokens_);
  }

 private:
  // Up to the next tag.
  void plain_text() {
    std::size_t next = at_;
    do next = std::min(text_.find('{', next), text_.size());
    while (next < text_.size() && text_.find_first_of("{%#", next + 1) != next + 1 && ++next);
    std::string_view part = text_.substr(at_, next - at_);
    if (strips_) part.remove_prefix(std::min(part.find_first_not_of(white_space), part.size()));
    const std::string_view begin = text_.substr(next, 3);
    if (begin.ends_with('-') && begin.size() == 3) {
      part = part.substr(0, part.find_last_not_of(white_space) + 1);
    } else if (!begin.empty() && begin[1] != '{' && begin.back() != '+') {
      const std::string_view line = part.substr(0, part.find_last_not_of(" \t") + 1);
      if (line.empty() ? at_ == 0 || text_[at_ - 1] == '\n' : line.ends_with('\n')) part = line;
    }
    if (!part.empty()) tokens_.push_back({Token::Kind::text, std::string(part), at_});
    at_ = next;
    strips_ = false;
  }

  void tag() {
    const char kind = text_[at_ + 1];
    if (kind == '#') {
      at_ = std::min(text_.find("#}", at_ + 2), text_.size());
      if (at_ == text_.size()) fail_at(text_, at_, "#}");
      end_tag(text_[at_ - 1] == '-', true);
      return;
    }
    tokens_.push_back({Token::Kind::sign, std::string(text_.substr(at_, 2)), at_});
    at_ += 2;
    if (at_ < text_.size() && (text_[at_] == '-' || (text_[at_] == '+' && kind == '%'))) ++at_;
    const std::string end = kind == '{' ? "}}" : "%}";
    // A dictionary may end with the same characters.
    for (int depth = 0;;) {
      at_ = std::min(text_.find_first_not_of(white_space, at_), text_.size());
      const std::string_view rest = text_.substr(at_);
      const bool strips = rest.starts_with("-" + end);
      if (depth == 0 && (strips || rest.starts_with(end))) {
        at_ += strips ? 1 : 0;
        tokens_.push_back({Token::Kind::sign, end, at_});
        end_tag(strips, kind == '%');
        return;
      }
      if (rest.empty()) fail_at(text_, at_, end);
      depth += rest[0] == '(' || rest[0] == '[' || rest[0] == '{' ? 1 : 0;
      depth -= rest[0] == ')' || rest[0] == ']' || rest[0] == '}' ? 1 : 0;
      token(rest);
    }
  }

  // Goes on after the two characters that end a tag.
  void end_tag(bool strips, bool trims_line) {
    strips_ = strips;
    at_ += 2;
    if (trims_line && at_ < text_.size() && text_[at_] == '\n') ++at_;
  }

  void token(std::string_view rest) {
    Token next{Token::Kind::sign, "", at_};
    const auto is_digit = [](char c) { return '0' <= c && c <= '9'; };
    if (rest[0] == '\'' || rest[0] == '"') {
      next.kind = Token::Kind::string;
      for (++at_; at_ < text_.size() && text_[at_] != rest[0]; ++at_) {
        const bool is_escaped = text_[at_] == '\\' && at_ + 1 < text_.size();
        const char c = text_[is_escaped ? ++at_ : at_];
        next.text += !is_escaped ? c : c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
      }
      if (at_ == text_.size()) fail_at(text_, at_, concatenate_text("a closing ", rest[0]));
      ++at_;
    } else if (is_name_character(rest[0])) {
      next.kind = is_digit(rest[0]) ? Token::Kind::number : Token::Kind::name;
      std::size_t size = 1;
      while (size < rest.size() && (is_name_character(rest[size]) ||
                                    (next.kind == Token::Kind::number && rest[size] == '.')))
        ++size;
      next.text = rest.substr(0, size);
      at_ += size;
    } else {
      for (const char* sign : {"==", "!=", "<=", ">=", "//"})
        if (rest.starts_with(sign)) next.text = sign;
      if (next.text.empty()) next.text = rest[0];
      if (std::string_view("=!<>/+-*%~.,:|()[]{}").find(rest[0]) == std::string_view::npos)
        fail_at(text_, at_, "an operator, a name or a value");
      at_ += next.text.size();
    }
    // One operator of two words.
    if (next.kind == Token::Kind::name && next.text == "in" &&
        tokens_.back().kind == Token::Kind::name && tokens_.back().text == "not")
      tokens_.back().text = "not in";
    else
      tokens_.push_back(std::move(next));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool strips_ = false;  // the space after a tag
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Lexer(text).run(); }

void fail_at(std::string_view text, std::size_t place, const std::string& expected) {
  std::string_view next = text.substr(place, 20);
  fail<ValueError>(
      concatenate_text("chat template, line ", 1 + std::ranges::count(text.substr(0, place), '\n')),
      expected, next.empty() ? "the end" : concatenate_text('\'', next, '\''));
}

}  // namespace weft::jinja
