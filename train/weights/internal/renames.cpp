#include "train/weights/internal/renames.hpp"

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

// The standard library's matching is recursive, by some hundred bytes of stack a character.
constexpr std::size_t max_bytes = 1000;

[[noreturn]] void fail_on(const Rename& rename, const std::regex_error& error) {
  fail<ValueError>("rename", "a regular expression",
                   concatenate_text('\'', rename.pattern, "' (", error.what(), ')'));
}

}  // namespace

Renames::Renames(const std::vector<Rename>& renames) {
  for (const Rename& rename : renames) try {
      expressions_.push_back({std::regex(rename.pattern), rename});
    } catch (const std::regex_error& error) {
      fail_on(rename, error);
    }
}

std::string Renames::apply(std::string name) const {
  for (const auto& [regex, rename] : expressions_) {
    if (name.size() > max_bytes)
      fail<ValueError>("rename", concatenate_text("names of at most ", max_bytes, " bytes"),
                       concatenate_text("one of ", name.size(), " bytes"));
    try {
      name = std::regex_replace(name, regex, rename.replacement);
    } catch (const std::regex_error& error) {
      fail_on(rename, error);
    }
  }
  return name;
}

}  // namespace weft
