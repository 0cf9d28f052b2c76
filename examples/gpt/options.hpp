// Command-line options that several commands share.
#pragma once

#include <string>

#include "examples/common/command_line.hpp"

namespace weft::gpt {

// The default output directory of `train`, and model of the other commands.
inline const std::string default_folder = "build/gpt";

inline void model_option(examples::CommandLine& line, std::string& model) {
  line.option("model",
              "checkpoint; or folder with best.h5, or a model of Hugging Face (config.json, "
              "model.safetensors, tokenizer.json), or with adapters of gpt finetune",
              model);
}

inline void weights_option(examples::CommandLine& line, Precision& weights) {
  line.choice("weights", "numbers that the weights are rounded to; bf16 is faster", weights);
}

}  // namespace weft::gpt
