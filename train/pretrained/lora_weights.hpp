// Saves and loads a model's LoRA adapters, without the model, in PEFT's format: adapter_config.json
// and adapter_model.safetensors.
#pragma once

#include <filesystem>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/layers/lora.hpp"
#include "weft/train/weights/save_weights.hpp"

namespace weft {

// Writes the model's adapters (see add_lora) to a folder in PEFT's format. `layout` determines the
// layer names: `pytorch` keeps the model's names; `llama`, for example, writes the names of Hugging
// Face's Llama. `base` is the folder of the base model, which PEFT looks up. Throws ValueError if
// the model has no adapters, or if the layout has no name for an adapted layer, packs it with other
// layers, or transposes it. Throws FileError if writing fails.
//   save_lora("adapter", gpt, Layout::llama);
template <class T>
WEFT_API void save_lora(const std::filesystem::path& folder, const Module<T>& model,
                        Layout layout = Layout::pytorch, const std::string& base = "");

// Adds adapters saved by PEFT or save_lora to a model, freezes all other parameters, and returns
// the number of adapters.
//
// Throws FileError
// - if a file cannot be read, or adapter_config.json contains unknown entries;
// - if the adapters are neither LoRA (Hu et al., 2021) nor rank-stabilized LoRA (Kalajdzievski,
//   2023), or their initialization changes the base model (PiSSA, OLoRA, …);
// - if an adapter belongs to a layer that the model does not have, that has a different size, or
//   that is not in target_modules;
// - if only some blocks have an adapter for a target layer.
//
// Throws ValueError if a layer already has an adapter. On error, the model is unchanged.
//   load_lora("adapter", gpt);
//   merge_lora(gpt);
template <class T>
WEFT_API Index load_lora(const std::filesystem::path& folder, Module<T>& model);

}  // namespace weft
