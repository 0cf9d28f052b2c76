// save_weights: writes a model's parameters and buffers to an HDF5 or a safetensors file, also for
// other programs.
#pragma once

#include <filesystem>
#include <string>

#include "weft/autograd/enum_names.hpp"
#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"
#include "weft/train/files/hdf5/hdf5_writer.hpp"

namespace weft {

// The names of the datasets in a file, and which parameters are packed in one.
enum class Layout {
  // weft's own: groups below /model.
  weft,
  // A state_dict of PyTorch: "encoder.0.weight", or with groups for dots. Attention and transformer
  // layers that torch.nn has, too, get its names and its packed projections
  // ("layers.0.self_attn.in_proj_weight"), with zeros for biases that only the PyTorch layer has;
  // all other names are the model's own.
  pytorch,
  pytorch_nested,
  // A state_dict of nanoGPT's form, or of transformers' GPT2LMHeadModel, for a Gpt. The latter has
  // all biases: zeros where the Gpt has none.
  nanogpt,
  gpt2,
  // A state_dict of transformers' BertModel and RobertaModel, for a Bert.
  bert,
  // A state_dict of transformers' Llama, Mistral, Qwen2 and Qwen3 with a head, for a Gpt of their
  // form.
  llama,
  // State_dicts of transformers' GPT-NeoX and BLOOM with a head, for a Gpt of their form.
  gpt_neox,
  bloom,
  // A state_dict of transformers' T5ForConditionalGeneration, for an EncoderDecoder of its form.
  t5,
};

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

struct SaveWeightsOptions {
  Layout layout = Layout::weft;  // the names in the file
  // The type of the numbers in the file.
  StorageType storage = StorageType::same;
};

// Writes a model's parameters and buffers, by default as `save_checkpoint` does without other
// state, or to a safetensors file if the path ends with ".safetensors", which has no groups: its
// layout is `pytorch` unless another is given. `load_weights` reads them in every layout and type.
// A layout other than weft's has a dataset for each name of tied weights in HDF5, as state_dicts
// do, and one for all in safetensors, as its library does, except for packed weights. Throws
// ValueError for a parameter that
// has no name in the layout, a model with other rotary pairs than the layout, and for a number that
// overflows the storage type, NonFiniteError for a NaN or an infinity, each naming the parameter,
// and FileError when writing fails; an existing file is then unchanged.
//   save_weights("model.safetensors", gpt, {.storage = StorageType::bfloat16});
template <class T>
WEFT_API void save_weights(const std::filesystem::path& path, const Module<T>& model,
                           const SaveWeightsOptions& options = {});

}  // namespace weft
