#include "train/text/tokenizers/internal/text_pattern.hpp"

#include <oniguruma.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <new>
#include <optional>

#include "weft/autograd/error.hpp"
#include "train/text/tokenizers/internal/unicode.hpp"

namespace weft {
namespace {

template <auto free>
struct FreedBy {
  template <class T>
  void operator()(T* pointer) const {
    free(pointer);
  }
};

void free_region(OnigRegion* region) { onig_region_free(region, 1); }

using Expression = std::unique_ptr<OnigRegexType, FreedBy<onig_free>>;
using Region = std::unique_ptr<OnigRegion, FreedBy<free_region>>;
using Limits = std::unique_ptr<OnigMatchParam, FreedBy<onig_free_match_param>>;

const OnigUChar* characters_of(std::string_view text) {
  return reinterpret_cast<const OnigUChar*>(text.data());
}

std::string message_of(int error, OnigErrorInfo* info = nullptr) {
  std::array<OnigUChar, ONIG_MAX_ERROR_MESSAGE_LEN> text{};
  const int size = info ? onig_error_code_to_str(text.data(), error, info)
                        : onig_error_code_to_str(text.data(), error);
  return std::string(text.begin(), text.begin() + size);
}

// Limits the size and the nesting of expressions, because the library parses parentheses, classes
// and quantifiers of quantifiers recursively.
void check_form(const std::string& what, std::string_view expression) {
  constexpr std::size_t max_bytes = 64 << 10, max_depth = 250;
  if (expression.size() > max_bytes)
    fail<ValueError>(what, str_cat("an expression of at most ", max_bytes, " bytes"),
                     str_cat(expression.size(), " bytes"));
  std::size_t depth = 0, quantifiers = 0;
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const char c = expression[at];
    if (c == '(' || c == '[') ++depth;
    if ((c == ')' || c == ']') && depth > 0) --depth;
    if (std::string_view("*+?{").find(c) != std::string_view::npos)
      ++quantifiers;
    else if (std::string_view(",}0123456789").find(c) == std::string_view::npos)
      quantifiers = 0;
    if (c == '\\') ++at;
    if (depth > max_depth || quantifiers > max_depth)
      fail<ValueError>(what, str_cat("an expression nested at most ", max_depth, " levels deep"),
                       str_cat('\'', expression.substr(0, 80), "…'"));
  }
}

// Replaces or rejects elements that versions of the library interpret differently. [:punct:], which
// includes symbols since version 6.9.9, is replaced by an equivalent class.
std::string in_every_version(const std::string& what, std::string_view expression) {
  std::string result;
  const auto refuse = [&](std::string_view part) {
    fail<ValueError>(what, "an expression whose meaning does not depend on the library's version",
                     str_cat('\'', part, '\''));
  };
  // Options of the whole expression; L selects the longest match.
  if (expression.starts_with("(?"))
    if (const std::string_view options =
            expression.substr(0, expression.find_first_not_of("CIL", 2) + 1);
        options.ends_with(')') && options.find('L') != options.npos)
      refuse(options);
  std::size_t classes = 0;  // the number of open classes
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const std::string_view rest = expression.substr(at);
    if (classes > 0 && rest.starts_with("[:punct:]")) {
      result += R"(\p{P}\p{S})";
      at += 8;
    } else if (classes > 0 && rest.starts_with("[:^punct:]")) {
      result += R"([^\p{P}\p{S}])";
      at += 9;
    } else if (rest.starts_with('\\') && rest.size() > 1) {
      // The library ignores case, spaces, "_" and "-" in names of properties.
      std::string name;
      if (rest.starts_with(R"(\p{)") || rest.starts_with(R"(\P{)"))
        for (const char c :
             rest.substr(3, rest.find('}') - std::min<std::size_t>(3, rest.find('}'))))
          if (std::string_view(" _-^").find(c) == std::string_view::npos)
            name += static_cast<char>('A' <= c && c <= 'Z' ? c - 'A' + 'a' : c);
      if (name == "word" || name == "punct") refuse(rest.substr(0, rest.find('}') + 1));
      result += rest.substr(0, 2);
      ++at;
    } else {
      if (rest.front() == '[') ++classes;
      if (rest.front() == ']' && classes > 0) --classes;
      result += rest.front();
    }
  }
  return result;
}

// Searches one text. Each search is first limited to few retries, which suffice for a word. If it
// exceeds the limit, it is repeated with four times as many retries, which are charged to the
// budget.
class Search {
 public:
  Search(OnigRegex code, std::string_view text, TextBudget& budget)
      : code_(code), text_(text), budget_(budget) {
    if (!region_ || !limits_) throw std::bad_alloc();
    if (text.size() > std::numeric_limits<int>::max())
      fail<ValueError>("text", "at most 2 GiB", str_cat(text.size(), " bytes"));
    onig_set_match_stack_limit_size_of_match_param(limits_.get(), max_stack);
  }

  // Finds the first match that begins at `at` or later. Returns ONIG_MISMATCH if there is no match,
  // and a lower value for an error of the library.
  int find_from(std::size_t at) {
    return repeated([&] {
      const OnigUChar* const begin = characters_of(text_);
      const OnigUChar* const end = begin + text_.size();
      return onig_search_with_param(code_, begin, end, begin + at, end, region_.get(),
                                    ONIG_OPTION_NONE, limits_.get());
    });
  }
  // Matches at the beginning of the text. Returns the same values as `find_from`.
  int match() {
    return repeated([&] {
      const OnigUChar* const begin = characters_of(text_);
      return onig_match_with_param(code_, begin, begin + text_.size(), begin, region_.get(),
                                   ONIG_OPTION_NONE, limits_.get());
    });
  }

  TextMatch found() const {
    const auto groups = static_cast<std::size_t>(region_->num_regs);
    return {static_cast<std::size_t>(region_->beg[0]),
            static_cast<std::size_t>(region_->end[0]),
            {region_->beg, groups},
            {region_->end, groups}};
  }

 private:
  static constexpr unsigned int max_stack = 1 << 22;  // about 200 MB

  template <class Try>
  int repeated(const Try& attempt) {
    for (unsigned long retries = 256;; retries *= 4) {
      onig_set_retry_limit_in_match_of_match_param(limits_.get(), retries);
      onig_set_retry_limit_in_search_of_match_param(limits_.get(), retries);
      const int found = attempt();
      const bool is_over =
          found == ONIGERR_RETRY_LIMIT_IN_MATCH_OVER || found == ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER;
      if (!is_over || !budget_.try_spend(retries * TextBudget::per_retry)) return found;
    }
  }

  OnigRegex code_;
  std::string_view text_;
  TextBudget& budget_;
  Region region_{onig_region_new()};
  Limits limits_{onig_new_match_param()};
};

}  // namespace

struct TextPattern::Code {
  // Returns an error message of the library, or an empty string. Locks a mutex, because compiling
  // changes global tables of the library.
  std::string compile(const std::string& expression) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    static const int initialized = [] {
      OnigEncoding encoding = ONIG_ENCODING_UTF8;
      return onig_initialize(&encoding, 1);
    }();
    if (initialized != ONIG_NORMAL) return message_of(initialized);
    OnigRegex made = nullptr;
    OnigErrorInfo info{};
    const OnigUChar* const begin = characters_of(expression);
    const int error = onig_new(&made, begin, begin + expression.size(), ONIG_OPTION_NONE,
                               ONIG_ENCODING_UTF8, ONIG_SYNTAX_ONIGURUMA, &info);
    if (error != ONIG_NORMAL) return message_of(error, &info);
    compiled.reset(made);
    return "";
  }
  // Throws ValueError if a search ended with an error.
  bool is_found(int result, const TextPattern& pattern) const {
    if (result < ONIG_MISMATCH)
      fail<ValueError>(
          pattern.what_, "an expression that matches in reasonable time",
          str_cat('\'', pattern.expression_.substr(0, 80), "' (", message_of(result), ')'));
    return result != ONIG_MISMATCH;
  }

  Expression compiled;
};

TextPattern::TextPattern(const std::string& what, std::string_view expression, Fit fit)
    : what_(what), expression_(expression) {
  check_form(what, expression);
  const std::string text = in_every_version(what, expression);
  Code code;
  std::string error = code.compile(text);
  if (error.empty() && fit == Fit::whole) {
    error = code.compile("\\A(?:" + text + ")\\z");
    // The closing parenthesis was part of a comment if the expression ends with one.
    if (!error.empty()) error = code.compile("\\A(?:" + text + "\n)\\z");
  }
  if (!error.empty())
    fail<ValueError>(what, "a regular expression",
                     str_cat('\'', expression.substr(0, 80), "' (", error, ')'));
  code_ = std::make_shared<const Code>(std::move(code));
}

TextPattern TextPattern::literal(std::string_view text) {
  TextPattern pattern;
  pattern.expression_ = text;
  return pattern;
}

void TextPattern::for_each_literal(std::string_view text,
                                   const std::function<void(const TextMatch&)>& use) const {
  std::size_t at = 0;
  while ((at = text.find(expression_, at)) != text.npos) {
    use({at, at + expression_.size(), {}, {}});
    at += expression_.size();
    if (!expression_.empty()) continue;
    if (at == text.size()) return;
    unicode::next_code_point(text, at);
  }
}

void TextPattern::for_each(std::string_view text, TextBudget& budget,
                           const std::function<void(const TextMatch&)>& use) const {
  budget.spend(text.size());
  if (text.empty()) return;
  if (!code_) return for_each_literal(text, use);
  Search search(code_->compiled.get(), text, budget);
  std::optional<std::size_t> last;  // the end of the previous match
  for (std::size_t at = 0; at <= text.size();) {
    if (!code_->is_found(search.find_from(at), *this)) return;
    const TextMatch match = search.found();
    if (match.begin == match.end && match.end == last) {
      if (at == text.size()) return;
      unicode::next_code_point(text, at);
      continue;
    }
    // \K in a look-around can move the beginning of a match before the previous match.
    if (match.begin < last.value_or(0) || match.end < match.begin)
      fail<ValueError>(what_, "an expression whose matches follow each other",
                       str_cat('\'', expression_.substr(0, 80), '\''));
    use(match);
    last = at = match.end;
  }
}

std::string TextPattern::replaced(
    std::string_view text, TextBudget& budget,
    const std::function<void(const TextMatch&, std::string&)>& append) const {
  std::string result;
  std::size_t rest = 0;
  for_each(text, budget, [&](const TextMatch& match) {
    result.append(text.substr(rest, match.begin - rest));
    const std::size_t begin = result.size();
    append(match, result);
    budget.replace(match.end - match.begin, result.size() - begin);
    rest = match.end;
  });
  return result.append(text.substr(rest));
}

bool TextPattern::fits(std::string_view text, TextBudget& budget) const {
  Search search(code_->compiled.get(), text, budget);
  return code_->is_found(search.match(), *this);
}

}  // namespace weft
