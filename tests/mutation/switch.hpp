// The mistake that mutation.sh turns on, 0 for none. Included in every file of its build.
#pragma once

#include <cstdlib>

inline const int weft_mistake = [] {
  const char* number = std::getenv("WEFT_MISTAKE");
  return number ? std::atoi(number) : 0;
}();
