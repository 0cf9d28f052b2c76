// DatasetSource: what a StoredDataset reads, whatever the format of its file.
#pragma once

#include <string>
#include <utility>

#include "train/files/hdf5/internal/chunked_data.hpp"
#include "train/files/hdf5/internal/element_type.hpp"
#include "train/files/hdf5/internal/location.hpp"

namespace weft::hdf5 {

class DatasetSource {
 public:
  DatasetSource(std::string path, ElementType type)
      : path_(std::move(path)), type_(std::move(type)) {}
  virtual ~DatasetSource() = default;

  const std::string& path() const { return path_; }
  const ElementType& type() const { return type_; }
  virtual Location location() const = 0;
  // Throws StructureError.
  virtual Shape shape() const = 0;
  // Throws StructureError unless the file has all elements. May be called on several threads.
  virtual void locate() = 0;
  // Reads rows first … last - 1 (of the first axis; a scalar is one row), after `locate`. Throws
  // StructureError when they cannot be read. May be called on several threads.
  virtual void read(Index first, Index last, const ElementSink& sink) const = 0;
  // Where an element may refer to; null when there is no such place.
  virtual const SourceFile* hdf5_file() const { return nullptr; }

 private:
  std::string path_;
  ElementType type_;
};

// Calls `sink` with `count` elements in blocks, on several threads, which `read` reads: those from
// an offset in bytes on.
void read_in_blocks(Index count, std::uint64_t element_bytes,
                    const std::function<void(std::uint64_t offset, std::span<std::byte>)>& read,
                    const ElementSink& sink);

}  // namespace weft::hdf5
