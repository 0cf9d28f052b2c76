// Saves and loads the adapters of a model alone, as PEFT does: adapter_config.json and
// adapter_model.safetensors.
#pragma once

#include <filesystem>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/layers/lora.hpp"
#include "weft/train/weights/save_weights.hpp"

namespace weft {

// Writes the model's adapters (see add_lora) to a folder in PEFT's format. `layout` determines the
// layer names, such as `llama`; `pytorch` keeps the model's own. `base` is the folder of the model
// without adapters, for PEFT. Throws ValueError for a model without adapters and for a layer
// without a name in the layout, and FileError if writing fails.
//   save_lora("adapter", gpt, Layout::llama);
template <class T>
WEFT_API void save_lora(const std::filesystem::path& folder, const Module<T>& model,
                        Layout layout = Layout::pytorch, const std::string& base = "");

// Adds the adapters of a folder written by PEFT or save_lora to a model, freezes all other
// parameters, and returns the number of adapters. Throws FileError for adapters that compute
// something other than LoRA (Hu et al., 2021) or rank-stabilized LoRA (Kalajdzievski, 2023), for
// initializations that change the base model (PiSSA, OLoRA, …), for unknown entries of
// adapter_config.json, for layers that are not in the model, not in target_modules or of other
// sizes, for target layers that have adapters in some blocks only, and for files that cannot be
// read; and ValueError for a layer that has an adapter. On error, the model is unchanged.
//   load_lora("adapter", gpt);
//   merge_lora(gpt);
template <class T>
WEFT_API Index load_lora(const std::filesystem::path& folder, Module<T>& model);

}  // namespace weft
