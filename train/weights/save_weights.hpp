// save_weights: saves a model's parameters and buffers to an HDF5 or safetensors file, optionally
// in the layout of another program.
#pragma once

#include <filesystem>
#include <string>

#include "weft/autograd/enum_names.hpp"
#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"
#include "weft/train/files/hdf5/hdf5_writer.hpp"

namespace weft {

// The layout of a weight file: the names of its datasets, and which parameters are packed into one
// dataset.
enum class Layout {
  // weft's layout: groups below /model.
  weft,
  // A PyTorch state_dict: with dotted names, "encoder.0.weight", or (`pytorch_nested`) with a group
  // for each part of a name. Attention and transformer layers with an equivalent in torch.nn get
  // torch.nn's names and packed projections ("layers.0.self_attn.in_proj_weight"), with zeros for
  // biases that only the PyTorch layer has. All other layers keep the model's names.
  pytorch,
  pytorch_nested,
  // A state_dict of nanoGPT, or of transformers' GPT2LMHeadModel, for a Gpt. `gpt2` contains all
  // biases, with zeros if the Gpt has no bias.
  nanogpt,
  gpt2,
  // A state_dict of transformers' BertModel or RobertaModel, for a Bert.
  bert,
  // A state_dict of transformers' Llama, Mistral, Qwen2 and Qwen3 with a head, for a Gpt with the
  // same architecture.
  llama,
  // State_dicts of transformers' GPT-NeoX and BLOOM with a head, for a Gpt with the same
  // architecture.
  gpt_neox,
  bloom,
  // A state_dict of transformers' T5ForConditionalGeneration, for an EncoderDecoder with the same
  // architecture.
  t5,
};

// The names of the layouts, as used in options and messages.
inline constexpr EnumNames<Layout, 10> layout_names{{
    {Layout::weft, "weft"},
    {Layout::pytorch, "pytorch"},
    {Layout::pytorch_nested, "pytorch_nested"},
    {Layout::nanogpt, "nanogpt"},
    {Layout::gpt2, "gpt2"},
    {Layout::bert, "bert"},
    {Layout::llama, "llama"},
    {Layout::gpt_neox, "gpt_neox"},
    {Layout::bloom, "bloom"},
    {Layout::t5, "t5"},
}};
inline std::string to_string(Layout layout) { return name_of("layout", layout, layout_names); }

// Options of save_weights.
struct SaveWeightsOptions {
  Layout layout = Layout::weft;  // the names of the datasets
  // The type of the numbers in the file.
  StorageType storage = StorageType::same;
};

// Saves a model's parameters and buffers. By default, writes the same file as `save_checkpoint`
// without other state. If the path ends with ".safetensors", writes a safetensors file. Safetensors
// has no groups, so its default layout is `pytorch`. `load_weights` reads every layout and type.
//
// In layouts other than weft's, HDF5 files contain a dataset for each name of a tied weight, as
// state_dicts do. Safetensors files contain a tied weight once, as the safetensors library
// requires, except for packed weights.
//
// Throws ValueError, naming the parameter, if the layout has no name for a parameter, or if a
// number overflows the storage type. Throws ValueError if the model has different rotary pairs than
// the layout. Throws NonFiniteError, naming the parameter, for a NaN or an infinity, and FileError
// if writing fails. On error, an existing file is unchanged.
//   save_weights("model.safetensors", gpt, {.storage = StorageType::bfloat16});
template <class T>
WEFT_API void save_weights(const std::filesystem::path& path, const Module<T>& model,
                           const SaveWeightsOptions& options = {});

}  // namespace weft
