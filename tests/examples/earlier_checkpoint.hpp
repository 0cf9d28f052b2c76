// Checkpoints as weft 0.2 wrote them, for tests of loading them.
#pragma once

#include <filesystem>
#include <string>

#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/files/hdf5/hdf5_writer.hpp>

namespace weft {

// Rewrites a checkpoint without the new settings of its configuration and without the options of
// its model. Returns the number of settings that were left out.
template <class Configuration>
int make_earlier(const std::filesystem::path& checkpoint) {
  const std::filesystem::path written = checkpoint.string() + ".earlier";
  const std::string configuration = "/configuration/";
  int left_out = 0;
  const Hdf5File file(checkpoint);
  Hdf5Writer writer(written);
  writer.attribute("format_version", std::int64_t{1});
  writer.attribute("weft_version", std::string("0.2.0"));
  for (const std::string& path : file.datasets()) {
    if (path.starts_with("/model_options/")) continue;
    if (path.starts_with(configuration) &&
        Configuration().is_new_since_0_2(path.substr(configuration.size()))) {
      ++left_out;
      continue;
    }
    const StoredDataset dataset = file.dataset(path);
    if (dataset.type() == "float32")
      writer.tensor(path, dataset.tensor<float>());
    else if (dataset.type() == "int64")
      writer.value(path, dataset.value<std::int64_t>());
    else if (dataset.type() == "float64")
      writer.value(path, dataset.value<double>());
    else
      writer.value(path, dataset.value<std::string>());
  }
  writer.save();
  std::filesystem::rename(written, checkpoint);
  return left_out;
}

}  // namespace weft
