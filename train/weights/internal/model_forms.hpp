// What the config.json of a model of Hugging Face says about its form.
// Included by definitions only.
#pragma once

#include "weft/layers/models/bert.hpp"
#include "weft/layers/models/encoder_decoder.hpp"
#include "weft/layers/models/gpt.hpp"
#include "train/weights/internal/model_config.hpp"

namespace weft {

// The options of a model. Throw ValueError for a model_type that is not known, and for entries that
// the model cannot follow.
GptOptions gpt_options(ModelConfig& config);
BertOptions bert_options(ModelConfig& config);
// With `tied` set, which the weights decide where `scales_output` is not.
EncoderDecoderOptions t5_options(ModelConfig& config);

// The config.json of a Gpt. Throws ValueError for one that is not of the form of Llama, Mistral,
// Qwen2 or Qwen3.
nlohmann::json config_of(const GptOptions& options, const Sequence& ends);

}  // namespace weft
