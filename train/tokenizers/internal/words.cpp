#include "train/tokenizers/internal/words.hpp"

#include "train/tokenizers/internal/unicode.hpp"

namespace weft::byte_pairs {
namespace {

enum class Kind { space, letter, number, other };

Kind kind_of(char32_t code) {
  if (unicode::is_space(code)) return Kind::space;
  if (unicode::is_letter(code)) return Kind::letter;
  return unicode::is_number(code) ? Kind::number : Kind::other;
}

// The characters of one kind from a position on.
struct Run {
  Kind kind;
  std::size_t end;
  std::size_t last;  // where its last character begins
};

Run run_from(std::string_view text, std::size_t begin) {
  std::size_t next = begin;
  Run run{kind_of(unicode::next_code_point(text, next)), next, begin};
  while (next < text.size() && kind_of(unicode::next_code_point(text, next)) == run.kind) {
    run.last = run.end;
    run.end = next;
  }
  return run;
}

// The number of bytes of a contraction at the start of the text; 0 without one.
std::size_t contraction(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.starts_with(ending)) return ending.size();
  return 0;
}

}  // namespace

std::size_t word_end(std::string_view text, std::size_t begin) {
  if (const std::size_t size = contraction(text.substr(begin))) return begin + size;
  if (text[begin] == ' ' && begin + 1 < text.size())
    if (const Run word = run_from(text, begin + 1); word.kind != Kind::space) return word.end;
  const Run run = run_from(text, begin);
  const bool leaves_last = run.kind == Kind::space && run.end < text.size() && run.last > begin;
  return leaves_last ? run.last : run.end;
}

}  // namespace weft::byte_pairs
