// SafetensorsFile: reads safetensors files, including untrusted ones.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/train/files/tensor_file.hpp"

namespace weft {

// A model's tensors in the format of Hugging Face's safetensors library: in one file, or in several
// files with an index. A tensor "layers.0.weight" has the path "/layers.0.weight"; there are no
// groups. Copies refer to the same open files.
//   const SafetensorsFile file("model.safetensors");
//   const Tensor<float> weight = file.tensor<float>("layers.0.weight");
class WEFT_API SafetensorsFile final : public TensorFile {
 public:
  static constexpr std::uint64_t max_header_bytes = 32 << 20;  // maximum header size of a file

  // Opens a file, or an index ("model.safetensors.index.json") and its files in the same directory.
  // Throws unless each file is complete: its tensors fill it without gaps and have the sizes that
  // follow from their shapes and types. An index must contain each tensor of its files.
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const override;
  bool has_group(const std::string& path) const override;
  std::vector<std::string> datasets(const std::string& group = "/") const override;
  StoredDataset dataset(const std::string& path) const override;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// Opens a SafetensorsFile if the name of the file ends with ".safetensors" or
// ".safetensors.index.json", otherwise an Hdf5File. Throws the same exceptions as their
// constructors.
WEFT_API std::unique_ptr<const TensorFile> open_tensor_file(const std::filesystem::path& path);

}  // namespace weft
