// The exceptions that weft throws. Messages have the form "what: expected …, got …".
#pragma once

#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "weft/autograd/export.hpp"

namespace weft {

// Returns `text` in a form that is safe to print in a message: control and format characters (such
// as U+202E) and bytes that are not UTF-8 are escaped byte by byte, as in "\x1b". For messages that
// quote user input or files.
WEFT_API std::string printable(std::string_view text);

// The base class of all exceptions that weft throws. The message is a single line, escaped by
// `printable`.
class WEFT_API Error : public std::runtime_error {
 public:
  // Creates an error whose `what()` returns `printable(message)`.
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

// A stream that builds a string. It formats numbers as in C++'s classic locale, "1500.5",
// regardless of `std::locale::global` and `setlocale`.
class TextStream : public std::ostringstream {
 public:
  // Creates an empty stream.
  TextStream() { imbue(std::locale::classic()); }
};

// Returns the parts concatenated into a string. Each part is formatted by `operator<<` of a
// TextStream.
template <class... Parts>
std::string str_cat(const Parts&... parts) {
  TextStream out;
  (out << ... << parts);
  return std::move(out).str();
}

// Throws `E` with the one-line message "what: expected …, got …".
template <class E, class Expected, class Got>
[[noreturn]] void fail(const std::string& what, const Expected& expected, const Got& got) {
  throw E(printable(str_cat(what, ": expected ", expected, ", got ", got)));
}

}  // namespace weft
