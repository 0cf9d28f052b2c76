// AtomicFile: replaces a file as a whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "weft/autograd/export.hpp"

namespace weft {

// What is written goes to `path` + ".saving", which is renamed to `path` when everything is on
// disk; so `path` always names a complete file, the old one or the new one, also when the process
// is killed or the power fails. Where `path` is a symbolic link, this holds for the file that it
// leads to, and the link stays.
//
// A new file gets the permissions that the umask leaves. A file that is replaced keeps its
// permissions, its owner and its group; where the group cannot be kept, its permissions become
// those of others, unless they were fewer.
//
// All functions throw FileError when the file cannot be written, is not a regular file, or is being
// saved by another process; the old file is then unchanged. Only on file systems that cannot
// exchange two names (see renameat2(2)), `path` names the new file until the power fails when the
// renaming itself does not reach the disk.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  // Without `commit`, the old file stays.
  ~AtomicFile();

  // Appends to the new file.
  void write(std::span<const std::byte> bytes);
  // Replaces the old file.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A file with these contents.
WEFT_API void write_atomically(const std::filesystem::path& path,
                               std::span<const std::byte> contents);

}  // namespace weft
