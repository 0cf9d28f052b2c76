// Saves and loads the adapters of a model alone, as PEFT does: adapter_config.json and
// adapter_model.safetensors.
#pragma once

#include <filesystem>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/layers/lora.hpp"
#include "weft/train/weights/save_weights.hpp"

namespace weft {

// Writes the adapters of a model (see add_lora) to a folder, with the names that its layers have in
// the layout, for example `llama`; with `pytorch` with the model's own. `base` is the folder of the
// model without adapters, for PEFT. Throws ValueError for a
// model without adapters, for adapters of different options, and for a layer that has no name in
// the layout, and FileError when writing fails.
//   save_lora("adapter", gpt, Layout::llama);
template <class T>
WEFT_API void save_lora(const std::filesystem::path& folder, const Module<T>& model,
                        Layout layout = Layout::pytorch, const std::string& base = "");

// Gives a model the adapters of a folder, which PEFT or save_lora wrote, and freezes everything
// else. Returns their number. Throws FileError for adapters of other kinds than LoRA's, for layers
// that are not in the model or have other sizes, and for files that cannot be read, and ValueError
// for a layer that has an adapter; the model is then unchanged.
//   load_lora("adapter", gpt);
//   merge_lora(gpt);
template <class T>
WEFT_API Index load_lora(const std::filesystem::path& folder, Module<T>& model);

}  // namespace weft
