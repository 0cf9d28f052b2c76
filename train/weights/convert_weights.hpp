// convert_weights: converts a weight file to the names and the format of another program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/train/files/tensor_file.hpp"
#include "weft/train/weights/save_weights.hpp"

namespace weft {

// The result of convert_weights.
struct [[nodiscard]] ConvertWeightsReport {
  // The layout of the input file, as returned by `weights_layout`.
  std::string layout;
  // Whether the input was a checkpoint whose moving averages were written instead of the
  // parameters.
  bool averaged = false;
  // The number of datasets written.
  Index written = 0;
  // The datasets that were not converted: causal masks, other state of a checkpoint, layers that
  // are not part of the model.
  std::vector<std::string> unused;
};

// Returns the layout of a weight file, which it recognizes by the names of the datasets: "weft" or
// one of `loadable_layouts()`. Throws FileError if the file cannot be read.
WEFT_API std::string weights_layout(const TensorFile& file);

// Returns the layouts that `convert_weights` can read: "weft", and each of `loadable_layouts()`
// that can be read without the model.
WEFT_API std::vector<std::string> convertible_layouts();

// Reads the weights of a file in one of `convertible_layouts()` and writes them to `to`, like
// `save_weights`, but without a model.
//
// The weights keep their floating-point type unless `options.storage` sets another type. Names are
// translated only if the input or the output layout belongs to an architecture, such as gpt2 or
// bert; the names of other state_dicts remain, whether flat or nested. Only `save_weights`, which
// knows the model, can write the names of torch.nn's modules. If the input is a checkpoint with an
// ExponentialMovingAverage and `averaged` is true, the averages are written. Only one dataset at a
// time is in memory.
//
// Throws FileError if the input cannot be read, if it is the same file as `to` (even under a
// different name), or if it contains no weights, two datasets for the same weight, or a weight
// without a name in the output layout. Throws ValueError if a number overflows the storage type,
// and NonFiniteError for a NaN or an infinity. On error, nothing is written.
//   const auto report = convert_weights("gpt2.h5", "nanogpt.h5", {.layout = Layout::nanogpt});
WEFT_API ConvertWeightsReport convert_weights(const std::filesystem::path& from,
                                              const std::filesystem::path& to,
                                              const SaveWeightsOptions& options = {},
                                              bool averaged = true);

}  // namespace weft
