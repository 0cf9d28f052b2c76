// Files that change, fail or end while they are open.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <thread>

#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/files/hdf5/hdf5_writer.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "train/files/hdf5/internal/library.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

void save(const fs::path& path, float value) {
  Hdf5Writer writer(path);
  writer.tensor("group/weight", Tensor<float>::full({1000}, value));
  writer.save();
}

// Closes every descriptor of a file, behind the back of who opened it, so that their close(2)
// fails.
void close_descriptors_of(const fs::path& file) {
  for (int descriptor = 0; descriptor < 1000; ++descriptor) {
    std::error_code error;
    const fs::path link = fs::path("/proc/self/fd") / std::to_string(descriptor);
    if (fs::read_symlink(link, error) == file) ::close(descriptor);
  }
}

}  // namespace

TEST_CASE("hdf5: a file whose closing fails does no harm when the program ends", "[train]") {
  const TemporaryFolder folder;
  const fs::path path = fs::canonical(folder.path()) / "file.h5";
  save(path, 1.0f);
  const pid_t child = ::fork();
  if (child == 0) {
    {
      const Hdf5File file(path);
      const StoredDataset dataset = file.dataset("group/weight");
      close_descriptors_of(path);
    }
    std::exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("hdf5: a file that is replaced while it is opened is the old one or the new one",
          "[train]") {
  const TemporaryFolder folder;
  const fs::path path = folder / "last.h5";
  save(path, 0.0f);
  std::atomic<int> saved = 0;
  std::atomic<bool> done = false;
  std::thread trainer([&] {
    while (!done) save(path, static_cast<float>(++saved));
  });
  std::string error;
  for (int i = 0; error.empty() && (i < 300 || saved < 30); ++i) {
    const int before = saved - 1;
    error = message_of<Error>([&] {
      const Tensor<float> weight = Hdf5File::open_verified(path).tensor<float>("group/weight");
      for (const float value : weight)
        if (value != weight(0) || value < static_cast<float>(before))
          fail<ValueError>("value", weight(0), value);
    });
  }
  done = true;
  trainer.join();
  CHECK(error == "");
}

TEST_CASE("hdf5: a dataset stays readable when its file is closed and replaced", "[train]") {
  const TemporaryFolder folder;
  const fs::path path = folder / "file.h5";
  save(path, 1.0f);
  std::optional<Hdf5File> file(path);
  const StoredDataset dataset = file->dataset("group/weight");
  file.reset();
  save(path, 2.0f);
  CHECK(dataset.tensor<float>()(999) == 1.0f);
  CHECK_THAT(message_of<FileError>([&] { dataset.tensor<float>({3}); }),
             Catch::Contains("file.h5\" /group/weight: expected shape [3], got [1000]"));
}

TEST_CASE("hdf5: a file that is cut short while it is open throws", "[train]") {
  const TemporaryFolder folder;
  const fs::path path = folder / "file.h5";
  save(path, 1.0f);
  const Hdf5File file(path);
  const StoredDataset dataset = file.dataset("group/weight");
  fs::resize_file(path, 100);
  CHECK_THAT(message_of<FileError>([&] { dataset.tensor<float>(); }),
             Catch::Contains("/group/weight: expected data that can be read"));
}

TEST_CASE("hdf5: handles are closed while nobody else calls the library", "[train]") {
  std::optional<hdf5::Handle> handle(H5Screate(H5S_SCALAR));
  const hid_t id = *handle;
  std::thread other;
  {
    const hdf5::LibraryLock lock;
    other = std::thread([&] { handle.reset(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK(H5Iis_valid(id) > 0);
  }
  other.join();
  CHECK(H5Iis_valid(id) == 0);
}

TEST_CASE("hdf5: a damaged checksum line is an error", "[train]") {
  const TemporaryFolder folder;
  const fs::path path = folder / "file.h5";
  save(path, 1.0f);
  const std::string bytes = bytes_of(path);
  constexpr std::size_t line_size = 46;
  const auto error_with = [&](const std::string& damaged) {
    write_bytes(path, damaged);
    return message_of<FileError>([&] { Hdf5File file(path); });
  };
  const auto refused =
      Catch::Contains("file.h5\": expected the checksum of its contents in the last line");
  for (std::size_t i = 1; i <= line_size; ++i) {
    std::string changed = bytes;
    changed[bytes.size() - i] ^= 1;
    CHECK_THAT(error_with(changed), refused);
    if (i < line_size) CHECK_THAT(error_with(bytes.substr(0, bytes.size() - i)), refused);
  }
}

TEST_CASE("hdf5: bytes of another program after the data are ignored", "[train]") {
  const TemporaryFolder folder;
  const fs::path path = folder / "file.h5";
  save(path, 1.0f);
  const std::string bytes = bytes_of(path);
  constexpr std::size_t line_size = 46;
  const std::string data = bytes.substr(0, bytes.size() - line_size),
                    line = bytes.substr(bytes.size() - line_size);
  for (const std::size_t count : {1U, 2U, 3U, 7U, 12U, 13U, 14U, 30U, 45U, 46U, 47U, 100U, 5000U})
    for (const std::string& kind : {std::string(1, '\0'), std::string("0123456789abcdef"),
                                    std::string("\x89HDF\r\n"), std::string("weft xxh128 ")}) {
      std::string tail;
      while (tail.size() < count) tail += kind;
      INFO(count << " bytes " << printable(kind));
      write_bytes(path, data + tail.substr(0, count));
      CHECK(Hdf5File(path).tensor<float>("group/weight")(999) == 1.0f);
      CHECK_THAT(message_of<FileError>([&] { Hdf5File::open_verified(path); }),
                 Catch::Contains("expected a file written by weft, with a checksum"));
    }
  // A checksum that is not that of the data, cut or followed by other bytes.
  std::string damaged = data;
  damaged[damaged.size() - 8] ^= 1;
  for (std::size_t count = 1; count <= line_size; ++count) {
    write_bytes(path, damaged + line.substr(0, count));
    CHECK_THROWS_AS(Hdf5File(path), FileError);
  }
  for (const std::string tail : {"x", "more"}) {
    write_bytes(path, damaged + line + tail);
    CHECK_THROWS_AS(Hdf5File(path), FileError);
  }
}

TEST_CASE("hdf5: a file that is much longer than its data is refused by its length", "[train]") {
  const TemporaryFolder folder;
  const fs::path path = folder / "file.h5";
  save(path, 1.0f);
  const std::string bytes = bytes_of(path);
  constexpr std::size_t line_size = 46;
  const std::string line = bytes.substr(bytes.size() - line_size);
  write_bytes(path, bytes.substr(0, bytes.size() - line_size));
  fs::resize_file(path, (std::uintmax_t{4} << 30) - line_size);
  std::ofstream(path, std::ios::binary | std::ios::app) << line;
  for (const auto& open : {std::function<void()>([&] { Hdf5File file(path); }),
                           std::function<void()>([&] { Hdf5File::open_verified(path); })})
    CHECK_THAT(
        message_of<FileError>(open),
        Catch::Contains(
            "file.h5\": expected an HDF5 file of 4294967250 bytes before the checksum line, got "));
  write_bytes(path, std::string(5000, 'x') + line);
  CHECK_THAT(message_of<FileError>([&] { Hdf5File file(path); }),
             Catch::Contains("expected an HDF5 file, got other data"));
}

}  // namespace weft
