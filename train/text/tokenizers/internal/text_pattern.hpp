// TextPattern: regular expressions over UTF-8 text. Only text_pattern.cpp uses Oniguruma.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "train/text/tokenizers/internal/text_budget.hpp"

namespace weft {

// A match of an expression in a text: the first byte and the last byte + 1 of the whole match and
// of each group; -1 for groups that did not participate.
struct TextMatch {
  std::size_t begin, end;
  std::span<const int> group_begins, group_ends;
};

// A regular expression in Oniguruma's own syntax with its default options, as in Hugging Face's
// tokenizers: classes are Unicode's, ^ and $ match at lines. Copies share what never changes;
// several threads may use it at the same time.
class TextPattern {
 public:
  enum class Fit { anywhere, whole };

  // Throws ValueError, starting with `what`, if `expression` is not a regular expression, is longer
  // than 64 KiB, is nested more than 250 levels deep, or contains something that versions of
  // Oniguruma interpret differently: \p{word}, \p{punct} and (?L). `fits` requires `Fit::whole`.
  TextPattern(const std::string& what, std::string_view expression, Fit fit = Fit::anywhere);
  // Matches the string itself.
  static TextPattern literal(std::string_view text);

  // Calls `use` with each match, from left to right. An empty match counts unless it directly
  // follows another match; an empty text has none. `text` is UTF-8. Throws ValueError if `budget`
  // does not suffice.
  void for_each(std::string_view text, TextBudget& budget,
                const std::function<void(const TextMatch&)>& use) const;
  // Returns the text with each match replaced by what `append` appends.
  std::string replaced(std::string_view text, TextBudget& budget,
                       const std::function<void(const TextMatch&, std::string&)>& append) const;
  // Returns whether the whole text matches. Throws the same exceptions as `for_each`.
  bool fits(std::string_view text, TextBudget& budget) const;

 private:
  struct Code;
  TextPattern() = default;
  void for_each_literal(std::string_view text,
                        const std::function<void(const TextMatch&)>& use) const;

  std::string what_, expression_;
  std::shared_ptr<const Code> code_;  // null for a literal
};

}  // namespace weft
