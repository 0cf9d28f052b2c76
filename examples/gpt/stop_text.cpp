#include "examples/gpt/stop_text.hpp"

#include <algorithm>
#include <utility>

namespace weft::gpt {

std::string StopText::add(std::string_view piece) {
  if (is_found_) return "";
  held_ += piece;
  if (stop_.empty()) return finish();
  std::size_t end = held_.find(stop_);
  is_found_ = end != held_.npos;
  if (!is_found_) {
    std::size_t kept = std::min(stop_.size() - 1, held_.size());
    while (!held_.ends_with(std::string_view(stop_).substr(0, kept))) --kept;
    end = held_.size() - kept;
  }
  std::string before = held_.substr(0, end);
  held_.erase(0, is_found_ ? held_.size() : end);
  return before;
}

std::string StopText::finish() { return std::exchange(held_, ""); }

}  // namespace weft::gpt
