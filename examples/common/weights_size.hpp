// Checks the size of a model that a configuration describes.
#pragma once

#include <filesystem>

namespace weft::examples {

// Throws FileError when a file of weights has fewer numbers than the `expected` ones of the model
// that `config` describes; for programs to call before they allocate memory for the model.
void check_weights_size(const std::filesystem::path& weights, const std::filesystem::path& config,
                        double expected);

}  // namespace weft::examples
