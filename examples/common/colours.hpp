// Colours: coloured text for terminals.
#pragma once

#include <string>

namespace weft::examples {

// Adds escape sequences to text if standard output is a terminal and the environment variable
// NO_COLOR is not set (https://no-color.org).
class Colours {
 public:
  Colours();

  std::string bold(const std::string& text) const { return with("1", text); }
  std::string red(const std::string& text) const { return with("31", text); }
  std::string green(const std::string& text) const { return with("32", text); }

 private:
  std::string with(const char* code, const std::string& text) const;

  bool are_shown_;
};

}  // namespace weft::examples
