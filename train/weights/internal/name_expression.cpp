#include "train/weights/internal/name_expression.hpp"

#include <algorithm>
#include <utility>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

// The standard library's matching is recursive, by some hundred bytes of stack a character.
constexpr std::size_t max_bytes = 1000;

}  // namespace

NameExpression::NameExpression(std::string what, std::string pattern)
    : what_(std::move(what)), pattern_(std::move(pattern)) {
  try {
    regex_.assign(pattern_);
  } catch (const std::regex_error& error) {
    fail_with(error);
  }
}

template <class Use>
auto NameExpression::use(const std::string& name, const Use& use) const {
  if (name.size() > max_bytes)
    fail<ValueError>(what_, concatenate_text("names of at most ", max_bytes, " bytes"),
                     concatenate_text("one of ", name.size(), " bytes"));
  try {
    return use();
  } catch (const std::regex_error& error) {
    fail_with(error);
  }
}

bool NameExpression::matches(const std::string& name) const {
  return use(name, [&] { return std::regex_match(name, regex_); });
}

std::string NameExpression::replaced(const std::string& name,
                                     const std::string& replacement) const {
  return use(name, [&] { return std::regex_replace(name, regex_, replacement); });
}

void NameExpression::fail_with(const std::regex_error& error) const {
  fail<ValueError>(what_, "a regular expression",
                   concatenate_text('\'', pattern_, "' (", error.what(), ')'));
}

std::vector<NameExpression> name_expressions(const std::string& what,
                                             const std::vector<std::string>& patterns) {
  std::vector<NameExpression> expressions;
  for (const std::string& pattern : patterns) expressions.emplace_back(what, pattern);
  return expressions;
}

bool is_one_of(const std::vector<NameExpression>& expressions, const std::string& name) {
  return std::ranges::any_of(
      expressions, [&](const NameExpression& expression) { return expression.matches(name); });
}

}  // namespace weft
