// convert_weights: writes the weights of a file under the names of another program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/train/files/tensor_file.hpp"
#include "weft/train/weights/save_weights.hpp"

namespace weft {

// What convert_weights did.
struct [[nodiscard]] ConvertWeightsReport {
  // What `weights_layout` says of the file that was read.
  std::string layout;
  // Whether the weights are a checkpoint's moving average of them.
  bool averaged = false;
  // The number of datasets that were written.
  Index written = 0;
  // The names of the datasets that were not converted: causal masks, other state of a checkpoint,
  // layers outside the model.
  std::vector<std::string> unused;
};

// Returns the layout of a file of weights, by its names: "weft" or one of `loadable_layouts()`.
// Throws FileError.
WEFT_API std::string weights_layout(const TensorFile& file);

// Returns the names of the layouts that `convert_weights` reads: "weft" and those of
// `loadable_layouts()` whose files describe the weights without a model.
WEFT_API std::vector<std::string> convertible_layouts();

// Reads a file in one of `convertible_layouts()`, without a model, and writes its weights as
// `save_weights` does; numbers keep their type unless `options.storage` says another. Names change
// only where a Gpt or a Bert has others in one of the layouts, so a state_dict of another model
// stays as it is, flat or nested: only `save_weights`, which has the model, writes the names of
// torch.nn's modules. Of a checkpoint with an ExponentialMovingAverage, the weights are the
// averages if `averaged` is true. Only one dataset at a time is in memory. Throws FileError for a
// file that cannot be read, is `to` itself (also under another name), has two datasets for one
// weight or no weights, or has weights without a name in the new layout, ValueError for a number
// that overflows the storage type, and NonFiniteError for a NaN or an infinity; nothing is then
// written.
//   const auto report = convert_weights("gpt2.h5", "nanogpt.h5", {.layout = Layout::nanogpt});
WEFT_API ConvertWeightsReport convert_weights(const std::filesystem::path& from,
                                              const std::filesystem::path& to,
                                              const SaveWeightsOptions& options = {},
                                              bool averaged = true);

}  // namespace weft
