#include "train/pretrained/keras/internal/zip_archive.hpp"

#include <minizip/unzip.h>
#include <minizip/zip.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

#include "weft/autograd/error.hpp"
#include "train/files/internal/atomic_file.hpp"
#include "train/files/internal/file_descriptor.hpp"
#include "train/files/internal/random_access_file.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

// A file in memory.
struct MemoryFile {
  std::string contents;
  std::size_t position = 0;
};

MemoryFile& file_of(voidpf opaque) { return *static_cast<MemoryFile*>(opaque); }

// Returns minizip's access to a file in memory.
zlib_filefunc64_def access_to(MemoryFile& file) {
  zlib_filefunc64_def access{};
  access.opaque = &file;
  access.zopen64_file = [](voidpf opaque, const void*, int) { return opaque; };
  access.zread_file = [](voidpf opaque, voidpf, void* to, uLong size) {
    MemoryFile& from = file_of(opaque);
    const std::size_t count = std::min<std::size_t>(size, from.contents.size() - from.position);
    std::memcpy(to, from.contents.data() + from.position, count);
    from.position += count;
    return static_cast<uLong>(count);
  };
  access.zwrite_file = [](voidpf opaque, voidpf, const void* bytes, uLong size) {
    MemoryFile& to = file_of(opaque);
    if (to.contents.size() < to.position + size) to.contents.resize(to.position + size);
    std::memcpy(to.contents.data() + to.position, bytes, size);
    to.position += size;
    return size;
  };
  access.ztell64_file = [](voidpf opaque, voidpf) {
    return static_cast<ZPOS64_T>(file_of(opaque).position);
  };
  access.zseek64_file = [](voidpf opaque, voidpf, ZPOS64_T offset, int origin) {
    MemoryFile& moved = file_of(opaque);
    const std::size_t base = origin == ZLIB_FILEFUNC_SEEK_END   ? moved.contents.size()
                             : origin == ZLIB_FILEFUNC_SEEK_CUR ? moved.position
                                                                : 0;
    if (offset > moved.contents.size() - base) return -1L;
    moved.position = base + offset;
    return 0L;
  };
  access.zclose_file = [](voidpf, voidpf) { return 0; };
  access.zerror_file = [](voidpf, voidpf) { return 0; };
  return access;
}

}  // namespace

ZipMembers read_zip(const fs::path& path) {
  // Members of models are hardly compressible. A file that claims more may be a bomb.
  constexpr std::uint64_t least = std::uint64_t{1} << 24, most_times = 32;
  MemoryFile file{file_contents(path).value_or("")};
  const std::uint64_t limit = std::max(least, most_times * file.contents.size());
  zlib_filefunc64_def access = access_to(file);
  const auto damaged = [&](const std::string& member) {
    fail_on_file(path, "a complete ZIP archive", "damaged data" + member);
  };
  const std::unique_ptr<std::remove_pointer_t<unzFile>, int (*)(unzFile)> archive(
      unzOpen2_64(path.c_str(), &access), &unzClose);
  if (!archive) damaged("");
  ZipMembers members;
  std::uint64_t total = 0;
  for (int result = unzGoToFirstFile(archive.get()); result != UNZ_END_OF_LIST_OF_FILE;
       result = unzGoToNextFile(archive.get())) {
    unz_file_info64 info;
    std::string name(4096, '\0');
    if (result != UNZ_OK ||
        unzGetCurrentFileInfo64(archive.get(), &info, name.data(), name.size() - 1, nullptr, 0,
                                nullptr, 0) != UNZ_OK)
      damaged("");
    name.resize(std::strlen(name.c_str()));
    const fs::path member(name);
    if (member.is_absolute() || std::ranges::find(member, "..") != member.end() ||
        name.find('\\') != name.npos)
      fail_on_file(path, "members within the archive", name);
    if (info.flag & 1) fail_on_file(path, "members that are not encrypted", name);
    total += std::min<std::uint64_t>(info.uncompressed_size, limit + 1);
    if (total > limit)
      fail_on_file(path, str_cat("at most ", limit, " bytes of contents"), "more in " + name);
    if (name.ends_with('/')) continue;
    std::string contents(info.uncompressed_size, '\0');
    // In parts: a length is an unsigned int.
    bool is_read = unzOpenCurrentFile(archive.get()) == UNZ_OK;
    for (std::size_t done = 0; is_read && done < contents.size();) {
      const auto part =
          static_cast<unsigned>(std::min<std::size_t>(contents.size() - done, 1U << 30));
      const int count = unzReadCurrentFile(archive.get(), contents.data() + done, part);
      is_read = count > 0;
      if (is_read) done += static_cast<std::size_t>(count);
    }
    // Also compares the checksum.
    if (!is_read || unzCloseCurrentFile(archive.get()) != UNZ_OK) damaged(" in " + name);
    if (!members.emplace(name, std::move(contents)).second)
      fail_on_file(path, "members with different names", "two members " + name);
  }
  return members;
}

void write_zip(const fs::path& path, const ZipMembers& members) {
  MemoryFile file;
  zlib_filefunc64_def access = access_to(file);
  zipFile archive = zipOpen2_64(path.c_str(), APPEND_STATUS_CREATE, nullptr, &access);
  bool is_written = archive != nullptr;
  // The first day that the format can express, for equal bytes.
  zip_fileinfo info{};
  info.tmz_date.tm_mday = 1;
  info.tmz_date.tm_year = 1980;
  for (const auto& [name, contents] : members) {
    const bool is_large = contents.size() >= 0xffffffff;
    is_written = is_written && zipOpenNewFileInZip64(archive, name.c_str(), &info, nullptr, 0,
                                                     nullptr, 0, nullptr, 0, 0, is_large) == ZIP_OK;
    for (std::size_t done = 0; is_written && done < contents.size();) {
      const auto part =
          static_cast<unsigned>(std::min<std::size_t>(contents.size() - done, 1U << 30));
      is_written = zipWriteInFileInZip(archive, contents.data() + done, part) == ZIP_OK;
      done += part;
    }
    is_written = is_written && zipCloseFileInZip(archive) == ZIP_OK;
  }
  if (archive) is_written = zipClose(archive, nullptr) == ZIP_OK && is_written;
  if (!is_written) fail_on_file(path, "an archive that can be written", "an error of minizip");
  write_atomically(path, std::as_bytes(std::span(file.contents)));
}

}  // namespace weft
