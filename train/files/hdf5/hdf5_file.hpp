// Hdf5File: reads HDF5 files, including untrusted ones.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/autograd/export.hpp"
#include "weft/train/files/tensor_file.hpp"

namespace weft {

namespace hdf5 {
class Hierarchy;
}

// An HDF5 file open for reading. Nothing outside the file is read or loaded: links to other files,
// data in other files and filters other than deflate, shuffle, fletcher32 and h5py's LZF are
// errors; elements that were never written have the dataset's fill value, and structures are read
// only when the checksums are right that HDF5's newer formats give them. Soft links within the file
// are followed; named types are left out. Functions of an object that was moved from throw
// ValueError. Copies are the same open file.
//   const Hdf5File file("model.h5");
//   for (const std::string& path : file.datasets("/model")) std::cout << path << file.shape(path);
class WEFT_API Hdf5File final : public TensorFile {
 public:
  // More limits on files.
  static constexpr std::size_t max_depth = 32;               // of nested groups
  static constexpr std::size_t max_chunks = 65'536;          // per dataset
  static constexpr std::size_t max_text_bytes = 16'777'216;  // per string or object's attributes

  // Throws unless `path` is a complete HDF5 file, regular and readable, that no other process is
  // writing. When its last line has a checksum (see Hdf5Writer::save), or is what is left of such a
  // line, throws unless it is that of all bytes before it. Other bytes after the data are ignored.
  // Opened while it is being replaced, it is the old file or the new one.
  explicit Hdf5File(const std::filesystem::path& path);
  // Opens a file as the constructor, and throws when its last line has no checksum: every byte is
  // as Hdf5Writer wrote it.
  static Hdf5File open_verified(const std::filesystem::path& path);

  const std::filesystem::path& path() const override;
  bool has_group(const std::string& path) const override;
  std::vector<std::string> datasets(const std::string& group = "/") const override;
  // Throws also for a dataset with data in other files or with other filters.
  StoredDataset dataset(const std::string& path) const override;

  // A single-element attribute of a group or dataset: std::int64_t, double or std::string.
  template <class T>
  T attribute(const std::string& object, const std::string& name) const;
  // Whether a group or dataset has an attribute. Throws when there is no such object.
  bool has_attribute(const std::string& object, const std::string& name) const;

 private:
  explicit Hdf5File(std::shared_ptr<hdf5::Hierarchy> hierarchy);
  hdf5::Hierarchy& hierarchy() const;

  std::shared_ptr<hdf5::Hierarchy> hierarchy_;
};

}  // namespace weft
