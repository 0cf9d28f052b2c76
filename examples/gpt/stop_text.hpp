// StopText: text that arrives in pieces, up to a text that ends it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace weft::gpt {

class StopText {
 public:
  // Without a text, there is no end.
  explicit StopText(std::string stop) : stop_(std::move(stop)) {}

  // Returns what comes before the stop text, and holds back what may be its beginning. What follows
  // it is left out.
  std::string add(std::string_view piece);
  // Returns what is held back.
  std::string finish();
  // Whether the stop text has come.
  bool is_found() const { return is_found_; }

 private:
  std::string stop_;
  std::string held_;
  bool is_found_ = false;
};

}  // namespace weft::gpt
