// Conversion between the config.json of Hugging Face models and the options of weft's models, in
// both directions. Include only in .cpp files.
#pragma once

#include "weft/layers/models/bert.hpp"
#include "weft/layers/models/encoder_decoder.hpp"
#include "weft/layers/models/gpt.hpp"
#include "weft/train/weights/save_weights.hpp"
#include "train/pretrained/internal/model_config.hpp"

namespace weft {

// Return the options of a model. Throw ValueError for an unknown model_type, and for entries that
// weft does not support.
GptOptions gpt_options(ModelConfig& config);
// Returns the default eos_token_id of a Gpt, for a config.json without this entry. Null if there is
// no default.
nlohmann::json default_end(ModelConfig& config);
BertOptions bert_options(ModelConfig& config);
// Returns options with `tied` set to true. Unless `scales_output` is set, the caller must set
// `tied` according to the weights.
EncoderDecoderOptions t5_options(ModelConfig& config);

// Write the config.json of a model such that reading it returns the same options. Throw ValueError
// if no config.json describes these options. The function for a Gpt returns the layout of its
// weights.
Layout write_config(ModelConfig& config, const GptOptions& options);
void write_config(ModelConfig& config, const BertOptions& options);
void write_config(ModelConfig& config, const EncoderDecoderOptions& options);

}  // namespace weft
