// The exceptions that weft throws. Every message has the form "what: expected …, got …".
#pragma once

#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "weft/autograd/export.hpp"

namespace weft {

// Text for messages, of which a user or a file may have written a part: the same text with its
// control and format characters (U+202E), and the bytes that are not UTF-8, as "\x1b".
WEFT_API std::string printable(std::string_view text);

// The base class of all exceptions that weft throws. The message is one line of text: `printable`
// of what it is made of.
class WEFT_API Error : public std::runtime_error {
 public:
  // With a message, of which `what()` returns the `printable` text.
  explicit Error(std::string_view message);
};

// Shapes that do not match each other or the operation.
class WEFT_API ShapeError : public Error {
 public:
  using Error::Error;
};

// A value outside its range: a probability of 1.5, a token id of -1, a negative learning rate.
class WEFT_API ValueError : public Error {
 public:
  using Error::Error;
};

// A NaN or an infinity where a finite number is required.
class WEFT_API NonFiniteError : public Error {
 public:
  using Error::Error;
};

// A file that cannot be opened, read, written or parsed.
class WEFT_API FileError : public Error {
 public:
  using Error::Error;
};

// A stream that builds a string. Numbers are formatted as in C++'s classic locale, "1500.5",
// whatever `std::locale::global` and `setlocale` have set.
class TextStream : public std::ostringstream {
 public:
  TextStream() { imbue(std::locale::classic()); }
};

// Concatenates the parts, each formatted by `operator<<` of a TextStream, and returns the string.
template <class... Parts>
std::string concatenate_text(const Parts&... parts) {
  TextStream out;
  (out << ... << parts);
  return std::move(out).str();
}

// Throws `E` with the message "what: expected …, got …", in one line.
template <class E, class Expected, class Got>
[[noreturn]] void fail(const std::string& what, const Expected& expected, const Got& got) {
  throw E(printable(concatenate_text(what, ": expected ", expected, ", got ", got)));
}

}  // namespace weft
