// Command-line options that several commands share.
#pragma once

#include <string>

#include "examples/common/command_line.hpp"

namespace weft::gpt {

// The default output directory of `train`, and the default model of the other commands.
inline const std::string default_folder = "build/gpt";

inline void model_option(examples::CommandLine& line, std::string& model) {
  line.option("model",
              "checkpoint, or folder with best.h5, with a Hugging Face model (config.json, "
              "model.safetensors, tokenizer.json), or with adapters from gpt finetune",
              model);
}

inline void weights_option(examples::CommandLine& line, Precision& weights) {
  line.choice("weights", "precision of the weights (bf16 is faster)", weights);
}

}  // namespace weft::gpt
