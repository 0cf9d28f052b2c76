#include "examples/common/colours.hpp"

#include <unistd.h>

#include <cstdlib>

namespace weft::examples {

Colours::Colours() {
  const char* const no_color = std::getenv("NO_COLOR");
  are_shown_ = isatty(STDOUT_FILENO) && (!no_color || *no_color == '\0');
}

std::string Colours::with(const char* code, const std::string& text) const {
  return are_shown_ ? std::string("\033[") + code + 'm' + text + "\033[0m" : text;
}

}  // namespace weft::examples
