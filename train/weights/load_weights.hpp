// load_weights: loads a model's parameters and buffers from HDF5 and safetensors files written by
// weft or by other programs.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"

namespace weft {

class TensorFile;

// Replaces each match of a regular expression in a name. In `replacement`, "$1" stands for the
// first group, "$&" for the match and "$$" for a dollar sign. See name_pattern.hpp for the syntax.
struct Rename {
  std::string pattern, replacement;  // the regular expression, and the replacement of each match
};

// Options of load_weights. Names are dotted, such as "encoder.0.weight". Lists of names contain
// regular expressions, and each expression must match a whole name: {"head\\..*"} selects all
// parameters of the head, {".*"} everything. A parameter with several names (tied weights) is
// selected if any of its names matches.
struct LoadWeightsOptions {
  // The HDF5 group that contains the parameters. If empty, they are searched at the root, in
  // /model, and below each common prefix of all names in the file ("transformer/", "_orig_mod.").
  // If set to "model", the parameters of a checkpoint are loaded even if it contains their moving
  // averages.
  std::string group = "";
  // Parameters that may be missing in the file. They keep their values.
  std::vector<std::string> ignore_missing = {};
  // Datasets that may be in the file although the model has no such parameter. They are ignored.
  // Both the name in the file and the name after translation (as shown in error messages) can
  // match.
  std::vector<std::string> ignore_unexpected = {};
  // Changes to the names in the file, applied in order, after the file's layout has been translated
  // to weft's names (as shown in error messages).
  //   {{"encoder.layer.(\\d+)", "blocks.$1"}}
  std::vector<Rename> rename = {};
  // The parameters to load; all other parameters keep their values. If empty, all parameters are
  // loaded.
  std::vector<std::string> only = {};
  std::vector<std::string> except = {};  // parameters that keep their values
  // The prefix of the parameters' names in the file, such as "student.". It is matched literally
  // and removed before the names are compared; datasets without it are not read.
  std::string prefix = "";
  // Whether the layers of a .h5 file of Keras are assigned to the model's layers by their order
  // instead of their names, as in Keras's load_weights: the first layer with weights in the file to
  // the first module with parameters in the model, and so on. The weights of a layer are compared
  // by name and shape.
  bool in_order = false;
};

// Returns the names of all layouts that `load_weights` recognizes, in the order in which it tries
// them: "state_dict", "nanoGPT", "GPT-2", …
WEFT_API std::vector<std::string> loadable_layouts();

// The result of load_weights. Names are dotted: '.' replaces '/'.
struct [[nodiscard]] LoadWeightsReport {
  // The layout of the file, one of `loadable_layouts()`, for example "GPT-2".
  std::string layout;
  // The prefix of the parameters' names in the file: "", "model.", …
  std::string prefix;
  // Whether the file was a checkpoint whose moving averages were loaded instead of the parameters.
  bool averaged = false;
  std::vector<std::string> loaded;  // parameters that were loaded
  // Parameters that have a different name in the file: "attention.W_k.weight from
  // self_attn.in_proj_weight, part 2 of 3".
  std::vector<std::string> renamed;
  // Parameters that have a different shape in the file, such as the transposed shape: "head.weight
  // from [8, 2]".
  std::vector<std::string> reshaped;
  // Parameters that have a different type in the file: "encoder.weight from float64".
  std::vector<std::string> converted;
  // Datasets that repeat a tied parameter under another of its names, with equal values:
  // "output.weight as tokens.weight".
  std::vector<std::string> tied;
  std::vector<std::string> missing;     // parameters not in the file, by `ignore_missing`
  std::vector<std::string> unexpected;  // datasets not in the model, by `ignore_unexpected`
  // Parameters excluded by `only` or `except`, and datasets that were not read because they are
  // outside the prefix or are no parameters, such as causal masks and optimizer states.
  std::vector<std::string> unused;
};

// Writes "loaded 98 parameters, layout Keras 3", then a line for each other non-empty list with its
// first names. Each line ends with '\n'.
WEFT_API std::ostream& operator<<(std::ostream& out, const LoadWeightsReport& report);

// Loads a model's parameters and buffers from an HDF5 or safetensors file (see open_tensor_file).
// Below, "parameters" includes buffers. Reads files written by `save_weights` and
// `save_checkpoint`, and files of other programs. The layout is recognized by the names in the
// file:
//
// - A PyTorch state_dict written with h5py, with dotted names ("encoder.0.weight") or with groups
//   ("encoder/0/weight"). weft's layers also find the weights of torch.nn.MultiheadAttention
//   (packed or not), TransformerEncoder, TransformerDecoder and their layers, and of the attention
//   and transformer blocks of the d2l.ai book. BatchNorm's `num_batches_tracked` is not read.
// - A state_dict of nanoGPT, or of transformers' GPT-2, Llama, Mistral, Qwen2, Qwen3, GPT-NeoX or
//   BLOOM, into a Gpt; of transformers' BERT into a Bert; of transformers' T5 into an
//   EncoderDecoder.
// - Keras 3 (.weights.h5) and Keras 2 (.h5, only weights or a whole model): Dense, EinsumDense,
//   Embedding, LayerNormalization, BatchNormalization, MultiHeadAttention, Conv1D, LSTM, SimpleRNN,
//   GRU (with `reset_after`) and Bidirectional. CuDNN layers are stored differently; loading them
//   is an error, even if `rename` maps their names to parameters.
// - tf_model.h5 of transformers' GPT-2 and BERT.
//
// If the file is a checkpoint with an ExponentialMovingAverage, the averages are loaded, unless
// `group` or `prefix` is set. A state_dict of GPT-2 or of torch.nn's modules may contain biases
// that the model lacks, if they are zero. Weights of Linear and recurrent layers are transposed if
// the layout stores them as [in, out]; parameters of user-defined modules are not.
//
// Floating-point numbers of 16, 32 and 64 bits in either byte order are converted. The file may
// contain a parameter with several names (tied weights) under any of them; if it contains several,
// their values must be equal. While loading, memory holds a second copy of the parameters.
//
// Throws FileError if the data cannot be read, a parameter is missing or a dataset unexpected
// (unless ignored), a shape or a type does not match, several datasets match one parameter, the
// values of a tied parameter differ, or there is no parameter to load. The message lists the first
// names of each kind and the number of further names; to see all of them, ignore {".*"} and print
// the report. Throws NonFiniteError for a NaN or an infinity. Throws ValueError if the model has
// different rotary pairs than the layout, or if a pattern is not a regular expression or takes too
// long to match. On error, the model is unchanged.
//   const auto report = load_weights("gpt2.h5", gpt, {.ignore_unexpected = {"lm_head\\..*"}});
//   std::cout << report;
template <class T>
WEFT_API LoadWeightsReport load_weights(const std::filesystem::path& path, Module<T>& model,
                                        const LoadWeightsOptions& options = {});
// Loads weights from an open file (see open_tensor_file). Throws the same exceptions.
template <class T>
WEFT_API LoadWeightsReport load_weights(const TensorFile& file, Module<T>& model,
                                        const LoadWeightsOptions& options = {});

}  // namespace weft
