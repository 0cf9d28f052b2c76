// AtomicFile: replaces a file completely or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "weft/autograd/export.hpp"

namespace weft {

// Writes to `path` + ".saving", and renames that file to `path` when everything is on disk. So
// `path` always names a complete file, old or new, even if the process is killed or the power
// fails. If `path` is a symbolic link, the link's target is replaced and the link remains.
//
// A new file has the permissions that the umask allows. A replaced file keeps its permissions,
// owner and group. If the group cannot be kept, the permissions of the group are limited to those
// of others.
//
// All functions throw FileError if the file cannot be written, is not a regular file, or is being
// saved by another process; the old file is then unchanged. There is one exception: if the file
// system cannot exchange two names (see renameat2(2)) and the renaming does not reach the disk,
// `path` names the new file until the power fails.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  // Without `commit`, the old file remains.
  ~AtomicFile();

  // Appends to the new file.
  void write(std::span<const std::byte> bytes);
  // Replaces the old file.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Writes a file with the given contents.
WEFT_API void write_atomically(const std::filesystem::path& path,
                               std::span<const std::byte> contents);

}  // namespace weft
