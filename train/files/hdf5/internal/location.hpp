// Location: a file and an object in it, as error messages name them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "weft/autograd/error.hpp"

namespace weft::hdf5 {

// "model.h5" /encoder/0/weight. The file itself when `object` is empty.
struct Location {
  const std::filesystem::path& file;
  std::string_view object = {};

  std::string text() const;
  // The text, truncated if long.
  static std::string shortened(std::string_view text);
};

// Throws FileError "location: expected …, got …".
template <class Expected, class Got>
[[noreturn]] void fail_at(const Location& location, const Expected& expected, const Got& got) {
  fail<FileError>(location.text(), expected, got);
}

// What is wrong with a file, "expected …, got …": thrown by functions that read it, which do not
// know what they read it for. `at` adds the location.
class StructureError : public FileError {
 public:
  using FileError::FileError;
};

template <class Expected, class Got>
[[noreturn]] void fail_structure(const Expected& expected, const Got& got) {
  throw StructureError(concatenate_text("expected ", expected, ", got ", got));
}
// Throws StructureError: the file's structure contradicts itself. `what` says which part of it.
[[noreturn]] void fail_with_damage(std::string_view what);
// The same for what is valid but not read: formats that no current program writes for weights.
[[noreturn]] void fail_unsupported(std::string_view what);

// Returns `function()`. Throws FileError "location: expected …, got …" when it throws
// StructureError.
template <class Function>
auto at(const Location& location, const Function& function) {
  try {
    return function();
  } catch (const StructureError& error) {
    throw FileError(concatenate_text(location.text(), ": ", error.what()));
  }
}

}  // namespace weft::hdf5
