// Checkpoints as weft 0.2 wrote them, for tests of loading them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/files/hdf5/hdf5_writer.hpp>

namespace weft {

// Rewrites a checkpoint without the datasets whose path `is_new` selects, and calls `add` with the
// writer, which may write others. Returns the paths of the datasets that were left out.
template <class IsNew, class Add>
std::vector<std::string> make_earlier(const std::filesystem::path& checkpoint, const IsNew& is_new,
                                      const Add& add) {
  const std::filesystem::path written = checkpoint.string() + ".earlier";
  std::vector<std::string> left_out;
  const Hdf5File file(checkpoint);
  Hdf5Writer writer(written);
  writer.attribute("format_version", std::int64_t{1});
  writer.attribute("weft_version", std::string("0.2.0"));
  for (const std::string& path : file.datasets()) {
    const StoredDataset dataset = file.dataset(path);
    if (is_new(path))
      left_out.push_back(path);
    else if (dataset.type() == "float32")
      writer.tensor(path, dataset.tensor<float>());
    else if (dataset.type() == "int64")
      writer.value(path, dataset.value<std::int64_t>());
    else if (dataset.type() == "float64")
      writer.value(path, dataset.value<double>());
    else
      writer.value(path, dataset.value<std::string>());
  }
  add(writer);
  writer.save();
  std::filesystem::rename(written, checkpoint);
  return left_out;
}
template <class IsNew>
std::vector<std::string> make_earlier(const std::filesystem::path& checkpoint,
                                      const IsNew& is_new) {
  return make_earlier(checkpoint, is_new, [](Hdf5Writer&) {});
}

}  // namespace weft
