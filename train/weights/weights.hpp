// Weights: reads and writes a model's parameters and buffers, in HDF5 files of weft and of other
// programs.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"

namespace weft {

struct LoadWeightsOptions {
  // The group of the parameters. When empty, they are searched at the root, in /model, and below
  // the common prefix of all names in the file ("transformer/", "_orig_mod.").
  std::string group = "";
  // Parameters that keep their values if the file does not contain them, and datasets of the file
  // that are ignored if they are no parameters: by name as the report and the error list them,
  // where
  // '*' stands for any text. {"head.*"} is every parameter of the head, {"*"} everything.
  std::vector<std::string> ignore_missing = {};
  std::vector<std::string> ignore_unexpected = {};
};

// What was loaded. All names have '.' for '/'.
struct [[nodiscard]] LoadWeightsReport {
  // The prefix of the parameters' names in the file: "", "model.", …
  std::string prefix;
  std::vector<std::string> loaded;
  // "attention.W_k.weight from self_attn.in_proj_weight, part 2 of 3": parameters with another name
  // in the file.
  std::vector<std::string> renamed;
  // "encoder.weight from float64": parameters with another type in the file.
  std::vector<std::string> converted;
  // "output.weight as tokens.weight": datasets with a further name of a parameter (tied weights),
  // whose values are those that were loaded.
  std::vector<std::string> tied;
  // Ignored: parameters that keep their values, and datasets of the file.
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
};

// A line for what was loaded and for each other list that is not empty; each ends with '\n'.
WEFT_API std::ostream& operator<<(std::ostream& out, const LoadWeightsReport& report);

// Reads a model's parameters and buffers (below called parameters, too) from an HDF5 file: what
// `save_weights` and `save_checkpoint` write, and what PyTorch users write with h5py from a
// state_dict, with dotted names as they are
// ("encoder.0.weight") or as groups ("encoder/0/weight"). The weights of
// torch.nn.MultiheadAttention (packed or not), TransformerEncoder, TransformerDecoder and their
// layers, and of the d2l.ai book's attention and transformer blocks, are found under their names
// there. Floating-point numbers of 16, 32 and 64 bits in either byte order are converted. A
// parameter with several names (tied weights) may have any of them in the file, or several with
// equal values. Throws FileError when a name is missing or unexpected and not ignored, a shape or
// type does not match (all of them are listed), two names of a parameter have different values, no
// parameter is left to load, or the data cannot be read, and NonFiniteError for a NaN or an
// infinity; the model is then unchanged.
template <class T>
WEFT_API LoadWeightsReport load_weights(const std::filesystem::path& path, Module<T>& model,
                                        const LoadWeightsOptions& options = {});

// Writes a model's parameters and buffers: `save_checkpoint` without other state.
template <class T>
WEFT_API void save_weights(const std::filesystem::path& path, Module<T>& model);

}  // namespace weft
