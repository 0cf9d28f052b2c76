// Location: a file and an object in it, as error messages name them.
#pragma once

#include <filesystem>
#include <string>

#include "weft/autograd/error.hpp"

namespace weft::hdf5 {

// "model.h5" /encoder/0/weight. The file itself when `object` is empty.
struct Location {
  const std::filesystem::path& file;
  const std::string& object;

  std::string text() const;
  // The text, truncated if long.
  static std::string shortened(const std::string& text);
};

// Throws FileError "location: expected …, got …".
template <class Expected, class Got>
[[noreturn]] void fail_at(const Location& location, const Expected& expected, const Got& got) {
  fail<FileError>(location.text(), expected, got);
}

}  // namespace weft::hdf5
