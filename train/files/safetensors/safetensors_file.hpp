// SafetensorsFile: reads safetensors files, including untrusted ones.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/train/files/tensor_file.hpp"

namespace weft {

// A model's tensors as Hugging Face's library safetensors writes them: in one file, or in several
// with an index. A tensor "layers.0.weight" has the path "/layers.0.weight"; there are no groups.
// Copies are the same open files.
//   const SafetensorsFile file("model.safetensors");
//   const Tensor<float> weight = file.tensor<float>("layers.0.weight");
class WEFT_API SafetensorsFile final : public TensorFile {
 public:
  static constexpr std::uint64_t max_header_bytes = 32 << 20;  // of a file

  // `path` is a file, or an index ("model.safetensors.index.json"), whose files are beside it.
  // Throws unless each is a complete file: its tensors fill it, one after the other, and are as
  // long as their shapes and types say; an index has each tensor of its files.
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const override;
  bool has_group(const std::string& path) const override;
  std::vector<std::string> datasets(const std::string& group = "/") const override;
  StoredDataset dataset(const std::string& path) const override;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// An Hdf5File, or a SafetensorsFile where the name of the file ends with ".safetensors" or
// ".safetensors.index.json". Throws as they do.
WEFT_API std::unique_ptr<const TensorFile> open_tensor_file(const std::filesystem::path& path);

}  // namespace weft
