// StopText: cuts text that arrives in pieces at a stop string.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace weft::gpt {

class StopText {
 public:
  // If `stop` is empty, the text is never cut.
  explicit StopText(std::string stop) : stop_(std::move(stop)) {}

  // Adds a piece and returns the text that certainly precedes the stop string. Characters that may
  // begin the stop string are held back. Everything from the stop string on is discarded.
  std::string add(std::string_view piece);
  // Returns the text that is held back.
  std::string finish();
  // Whether the stop string was found.
  bool is_found() const { return is_found_; }

 private:
  std::string stop_;
  std::string held_;
  bool is_found_ = false;
};

}  // namespace weft::gpt
