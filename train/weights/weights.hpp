// Weights: reads and writes a model's parameters, in HDF5 files of weft and of other programs.
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
  // Whether the file must contain every parameter and nothing else.
  bool strict = true;
};

struct LoadWeightsReport {
  // The prefix of the parameters' names, with '.' for '/': "", "model.", …
  std::string prefix;
  std::vector<std::string> loaded;
  // "attention.W_k.weight from self_attn.in_proj_weight, part 2 of 3": parameters with another name
  // in the file.
  std::vector<std::string> renamed;
  // "encoder.weight from float64": parameters with another type in the file.
  std::vector<std::string> converted;
  // Only when not strict: parameters that keep their values, and datasets of the file.
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
};

// One line per non-empty list.
WEFT_API std::ostream& operator<<(std::ostream& out, const LoadWeightsReport& report);

// Reads a model's parameters from an HDF5 file: what `save_weights` and `save_checkpoint` write,
// and what PyTorch users write with h5py from a state_dict, with dotted names as they are
// ("encoder.0.weight") or as groups ("encoder/0/weight"). The weights of
// torch.nn.MultiheadAttention (packed or not), TransformerEncoder, TransformerDecoder and their
// layers, and of the d2l.ai book's attention and transformer blocks, are found under their names
// there. Floating-point numbers of 16, 32 and 64 bits in either byte order are converted. Throws
// FileError when a name is missing or unexpected, a shape or type does not match (all of them are
// listed), or the data cannot be read, and NonFiniteError for a NaN or an infinity; the model is
// then unchanged.
template <class T>
WEFT_API LoadWeightsReport load_weights(const std::filesystem::path& path, Module<T>& model,
                                        const LoadWeightsOptions& options = {});

// Writes a model's parameters: `save_checkpoint` without other state.
template <class T>
WEFT_API void save_weights(const std::filesystem::path& path, Module<T>& model);

}  // namespace weft
