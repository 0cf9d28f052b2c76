// Captured: what is written to a stream.
#pragma once

#include <ostream>
#include <sstream>
#include <string>

namespace weft {

// Collects what is written to a stream while it lives.
class Captured {
 public:
  explicit Captured(std::ostream& stream) : stream_(stream), before_(stream.rdbuf(text_.rdbuf())) {}
  ~Captured() { stream_.rdbuf(before_); }
  std::string text() const { return text_.str(); }

 private:
  std::ostream& stream_;
  std::ostringstream text_;
  std::streambuf* before_;
};

}  // namespace weft
