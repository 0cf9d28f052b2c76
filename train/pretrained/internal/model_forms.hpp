// The forms of models of Hugging Face: what their config.json says, in both directions.
// Included by definitions only.
#pragma once

#include "weft/layers/models/bert.hpp"
#include "weft/layers/models/encoder_decoder.hpp"
#include "weft/layers/models/gpt.hpp"
#include "weft/train/weights/save_weights.hpp"
#include "train/pretrained/internal/model_config.hpp"

namespace weft {

// The options of a model. Throw ValueError for a model_type that is not known, and for entries that
// the model cannot follow.
GptOptions gpt_options(ModelConfig& config);
// Returns the eos_token_id of a Gpt whose config has no such entry, or null.
nlohmann::json default_end(ModelConfig& config);
BertOptions bert_options(ModelConfig& config);
// With `tied` set, which the weights decide where `scales_output` is not.
EncoderDecoderOptions t5_options(ModelConfig& config);

// The reverse: write the config of a model with these options, where reading gives the same ones.
// Throw ValueError for one of another form. Of a Gpt, returns the names of its weights.
Layout write_config(ModelConfig& config, const GptOptions& options);
void write_config(ModelConfig& config, const BertOptions& options);
void write_config(ModelConfig& config, const EncoderDecoderOptions& options);

}  // namespace weft
