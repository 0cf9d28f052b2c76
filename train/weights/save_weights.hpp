// save_weights: writes a model's parameters and buffers to an HDF5 file, also for other programs.
#pragma once

#include <filesystem>
#include <optional>

#include "weft/autograd/enum_names.hpp"
#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// The names of the datasets in a file, and which parameters are packed in one.
enum class Layout {
  // weft's own: groups below /model.
  weft,
  // A state_dict of the model's own names: "encoder.0.weight", or with groups for dots.
  pytorch,
  pytorch_nested,
  // A state_dict of nanoGPT's form, or of transformers' GPT2LMHeadModel, for a Gpt.
  nanogpt,
  gpt2,
  // A state_dict of transformers' BertModel, for a Bert.
  bert,
};

inline constexpr EnumNames<Layout, 6> layout_names{{
    {Layout::weft, "weft"},
    {Layout::pytorch, "pytorch"},
    {Layout::pytorch_nested, "pytorch_nested"},
    {Layout::nanogpt, "nanogpt"},
    {Layout::gpt2, "gpt2"},
    {Layout::bert, "bert"},
}};

// The type of the numbers in a file.
enum class StorageType { float16, bfloat16, float32, float64 };

inline constexpr EnumNames<StorageType, 4> storage_type_names{{
    {StorageType::float16, "float16"},
    {StorageType::bfloat16, "bfloat16"},
    {StorageType::float32, "float32"},
    {StorageType::float64, "float64"},
}};

struct SaveWeightsOptions {
  Layout layout = Layout::weft;
  // The type of the numbers in the file, to which they are rounded to nearest, ties to even; the
  // model's own when not given.
  std::optional<StorageType> storage = {};
};

// Writes a model's parameters and buffers, by default as `save_checkpoint` does without other
// state. A layout other than weft's has a dataset for each name of tied weights, as state_dicts do.
// Throws ValueError for a parameter that has no name in the layout, and for a number that overflows
// the storage type, NonFiniteError for a NaN or an infinity, each naming the parameter, and
// FileError when writing fails; an existing file is then unchanged.
template <class T>
WEFT_API void save_weights(const std::filesystem::path& path, Module<T>& model,
                           const SaveWeightsOptions& options = {});

}  // namespace weft
