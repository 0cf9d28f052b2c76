#include "examples/common/weights_size.hpp"

#include <string>

#include <weft/autograd/error.hpp>
#include <weft/train/hdf5/hdf5_file.hpp>

namespace weft::examples {

void check_weights_size(const std::filesystem::path& weights, const std::filesystem::path& config,
                        double expected) {
  const Hdf5File file(weights);
  double elements = 0;
  for (const std::string& path : file.datasets())
    elements += static_cast<double>(file.shape(path).elements());
  if (elements < expected)
    fail<FileError>("weights '" + weights.string() + '\'',
                    concatenate_text("at least the ", expected, " weights of ", config.string()),
                    elements);
}

}  // namespace weft::examples
