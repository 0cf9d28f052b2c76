// Helpers for testing error messages.
#pragma once

#include <string>

namespace weft {

// The message of the `E` that `action` throws; empty when it throws none.
template <class E, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace weft
