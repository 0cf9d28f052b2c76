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

// An HDF5 file open for reading. Copies refer to the same open file. Functions of a moved-from
// object throw ValueError.
//
// Nothing outside the file is read or loaded: links to other files, data in other files, and
// filters other than deflate, shuffle, fletcher32 and h5py's LZF are errors. Elements that were
// never written have the dataset's fill value. Where HDF5's newer formats store checksums of their
// structures, the checksums are verified. Soft links within the file are followed; named types are
// ignored.
//   const Hdf5File file("model.h5");
//   for (const std::string& path : file.datasets("/model")) std::cout << path << file.shape(path);
class WEFT_API Hdf5File final : public TensorFile {
 public:
  // More limits on files.
  static constexpr std::size_t max_depth = 32;               // levels of nested groups
  static constexpr std::size_t max_chunks = 65'536;          // chunks per dataset
  static constexpr std::size_t max_text_bytes = 16'777'216;  // per string or object's attributes

  // Opens a file. Throws unless it is a complete, regular and readable HDF5 file that no other
  // process is writing. If the file ends with a checksum line, even an incomplete one, throws
  // unless it is the checksum of all bytes before it (see Hdf5Writer::save). Other bytes after the
  // data are ignored. If the file is being replaced, either the old or the new contents are read.
  explicit Hdf5File(const std::filesystem::path& path);
  // Opens a file like the constructor, but also throws if it does not end with a checksum line.
  // This guarantees that every byte is as written by Hdf5Writer.
  static Hdf5File open_verified(const std::filesystem::path& path);
  // Opens a file in memory, for example a member of an archive. `path` is its name in messages.
  static Hdf5File from_bytes(const std::filesystem::path& path, std::string bytes);

  const std::filesystem::path& path() const override;
  bool has_group(const std::string& path) const override;
  std::vector<std::string> datasets(const std::string& group = "/") const override;
  // Opens a dataset. Throws if there is no dataset at `path`, if its data are in other files, and
  // if it uses unsupported filters.
  StoredDataset dataset(const std::string& path) const override;

  // Returns an attribute of a group or dataset: a single element as std::int64_t, double or
  // std::string, or strings of any number as std::vector<std::string>.
  template <class T>
  T attribute(const std::string& object, const std::string& name) const;
  // Returns whether a group or dataset has an attribute. Throws if there is no such object.
  bool has_attribute(const std::string& object, const std::string& name) const;

 private:
  explicit Hdf5File(std::shared_ptr<hdf5::Hierarchy> hierarchy);
  hdf5::Hierarchy& hierarchy() const;

  std::shared_ptr<hdf5::Hierarchy> hierarchy_;
};

}  // namespace weft
