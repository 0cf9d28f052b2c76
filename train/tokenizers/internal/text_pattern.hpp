// TextPattern: regular expressions over UTF-8 text. The only place that sees PCRE2.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace weft {

// An expression of Perl's syntax, whose classes are those of Unicode: \s, \w, \p{L}. Copies share
// what never changes; it may be used on several threads.
class TextPattern {
 public:
  // Throws ValueError, starting with `what`, for what is no regular expression.
  TextPattern(const std::string& what, std::string_view expression);
  // Of the text itself.
  static TextPattern literal(std::string_view text);

  // Calls `use` with the first and the last byte + 1 of each match that is not empty, from left to
  // right. `text` is UTF-8. Throws ValueError when the search takes too long.
  void for_each(std::string_view text,
                const std::function<void(std::size_t begin, std::size_t end)>& use) const;
  // The text with each match replaced by what `append` appends.
  std::string replaced(
      std::string_view text,
      const std::function<void(std::string_view match, std::string& result)>& append) const;

 private:
  TextPattern(const std::string& what, const std::string& expression, std::uint32_t options);

  struct Code;
  std::string what_;
  std::shared_ptr<const Code> code_;
};

}  // namespace weft
