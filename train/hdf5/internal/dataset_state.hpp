// The state of an Hdf5Dataset. Included by definitions only.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "weft/train/hdf5/hdf5_dataset.hpp"
#include "train/hdf5/internal/element_type.hpp"
#include "train/hdf5/internal/stored_data.hpp"

namespace weft {

struct Hdf5Dataset::State {
  // Throws FileError unless the header is that of a dataset whose data are in the file itself.
  State(std::shared_ptr<const hdf5::SourceFile> in_file, std::string at_path,
        const hdf5::ObjectHeader& header);

  hdf5::Location location() const { return {file->path(), path}; }
  Shape shape() const;
  // Finds the data, on the first call.
  const hdf5::StoredData& stored_data();

  std::shared_ptr<const hdf5::SourceFile> file;
  std::string path;
  hdf5::ElementType type;
  std::vector<std::byte> dataspace;
  hdf5::StoredData data;
  std::once_flag located;
};

}  // namespace weft
