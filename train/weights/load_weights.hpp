// load_weights: reads a model's parameters and buffers from HDF5 and safetensors files of weft and
// of other programs.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// Replaces each match of a regular expression in a name. "$1" in `replacement` is the first group,
// "$&" the match, "$$" a dollar sign. See name_pattern.hpp for the syntax.
struct Rename {
  std::string pattern, replacement;  // the expression, and what replaces its matches
};

// Names are dotted. Lists of names are of regular expressions, each for whole names: {"head\\..*"}
// is every parameter of the head, {".*"} everything. A parameter with several names (tied weights)
// is selected by any of them.
struct LoadWeightsOptions {
  // The group of the parameters. When empty, they are searched at the root, in /model, and below
  // the common prefix of all names in the file ("transformer/", "_orig_mod."). With "model", those
  // of a checkpoint with a moving average are not the average.
  std::string group = "";
  // Parameters that keep their values if the file does not contain them, by name as the report and
  // the error list them.
  std::vector<std::string> ignore_missing = {};
  // Datasets of the file that are ignored if they are no parameters, by name as there.
  std::vector<std::string> ignore_unexpected = {};
  // Changes of names, one after the other: of those that the layout gives to the datasets, as the
  // error lists them. {{"encoder.layer.(\\d+)", "blocks.$1"}}
  std::vector<Rename> rename = {};
  // The parameters that are loaded, all when empty; the others keep their values.
  std::vector<std::string> only = {};
  std::vector<std::string> except = {};  // parameters that keep their values
  // The start of the names in the file that are read, without which they are the parameters': all
  // of the text, "student.".
  std::string prefix = "";
};

// Returns the names of all layouts that `load_weights` recognises, in the order in which it tries
// them: "state_dict", "nanoGPT", "GPT-2", …
WEFT_API std::vector<std::string> loadable_layouts();

// What was loaded. All names have '.' for '/'.
struct [[nodiscard]] LoadWeightsReport {
  // The layout of the file, one of `loadable_layouts()`: "GPT-2".
  std::string layout;
  // The prefix of the parameters' names in the file: "", "model.", …
  std::string prefix;
  // Whether the parameters are a checkpoint's moving average of them.
  bool averaged = false;
  std::vector<std::string> loaded;  // parameters
  // "attention.W_k.weight from self_attn.in_proj_weight, part 2 of 3": parameters with another name
  // in the file.
  std::vector<std::string> renamed;
  // "head.weight from [8, 2]": parameters with another shape in the file, such as its transpose.
  std::vector<std::string> reshaped;
  // "encoder.weight from float64": parameters with another type in the file.
  std::vector<std::string> converted;
  // "output.weight as tokens.weight": datasets with a further name of a parameter (tied weights),
  // whose values are those that were loaded.
  std::vector<std::string> tied;
  std::vector<std::string> missing;     // ignored: parameters that keep their values
  std::vector<std::string> unexpected;  // ignored: datasets of the file
  // Parameters excluded by the options, and datasets without a parameter in the model: datasets
  // outside the prefix, causal masks, optimizer states.
  std::vector<std::string> unused;
};

// "loaded 98 parameters, layout Keras 3" and a line for each other list that is not empty, with the
// first of its names; each line ends with '\n'.
WEFT_API std::ostream& operator<<(std::ostream& out, const LoadWeightsReport& report);

// Reads a model's parameters and buffers (below called parameters, too) from an HDF5 file, or from
// safetensors (see open_tensor_file): what
// `save_weights` and `save_checkpoint` write, and what users of other programs have. The layout is
// recognised by the names in the file:
//
// - A PyTorch state_dict written with h5py, with dotted names as they are ("encoder.0.weight") or
//   as groups ("encoder/0/weight"). The weights of torch.nn.MultiheadAttention (packed or not),
//   TransformerEncoder, TransformerDecoder and their layers, and of the d2l.ai book's attention and
//   transformer blocks, are found under their names there.
// - State_dicts of nanoGPT and of transformers' GPT-2, Llama, Mistral, Qwen2, Qwen3, GPT-NeoX and
//   BLOOM, for a Gpt, of its BERT, for a Bert, and of its T5, for an EncoderDecoder.
// - Keras 3 (.weights.h5) and Keras 2 (.h5, the weights alone or a whole model), of which Dense,
//   EinsumDense, Embedding, LayerNormalization and MultiHeadAttention are read, of Keras 3 also
//   GRU (with `reset_after`), LSTM and SimpleRNN. Recurrent layers of Keras 2 and kernels of Conv1D
//   have another form and are errors, also when `rename` gives them names of parameters.
// - transformers' tf_model.h5 of GPT-2 and BERT.
//
// Of a checkpoint with an ExponentialMovingAverage, the parameters are the averages. Biases of
// zeros in a state_dict of GPT-2 and of torch.nn's modules need not be in the model. Weights of
// Linear and recurrent layers are transposed where the layout has [in, out]; a parameter of a
// module of your own is read as it is in the file.
//
// Floating-point numbers of 16, 32 and 64 bits in either byte order are converted. A
// parameter with several names (tied weights) may have any of them in the file, or several with
// equal values. Loading takes the memory of the parameters a second time. Throws FileError when a
// name is missing or unexpected and not ignored, a shape or type does not match, two datasets are
// for one parameter (the message has the first names of each kind, and how many more there are; the
// report of a load that ignores {".*"} has all that are missing or unexpected), two names of a
// parameter have different values, no parameter is left to load, or the data cannot be read,
// NonFiniteError for a NaN or an infinity, and ValueError for a model with other rotary pairs
// than the layout, and if a pattern is no regular expression or takes too long to match a name; the
// model is then unchanged.
//   const auto report = load_weights("gpt2.h5", gpt, {.ignore_unexpected = {"lm_head\\..*"}});
//   std::cout << report;
template <class T>
WEFT_API LoadWeightsReport load_weights(const std::filesystem::path& path, Module<T>& model,
                                        const LoadWeightsOptions& options = {});

}  // namespace weft
