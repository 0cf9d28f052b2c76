// Models of Hugging Face, as their folders lie there: config.json and model.safetensors.
#pragma once

#include <filesystem>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/layers/models/bert.hpp"
#include "weft/layers/models/encoder_decoder.hpp"
#include "weft/layers/models/gpt.hpp"
#include "weft/train/data/vocabulary.hpp"
#include "weft/train/weights/load_weights.hpp"
#include "weft/train/weights/save_weights.hpp"

namespace weft {

// What the files of a folder say of a model.
struct PretrainedGpt {
  GptOptions options;  // of the Gpt
  // The tokens that end a text: eos_token_id of generation_config.json, or else of config.json,
  // without ids outside the vocabulary.
  TokenIds ends;
};

// What read_pretrained_encoder_decoder reads.
struct PretrainedEncoderDecoder {
  EncoderDecoderOptions options;  // of the EncoderDecoder
  TokenId start = 0;              // that each target begins with (decoder_start_token_id)
  TokenIds ends;                  // the tokens that end a target (eos_token_id)
};

// The Gpt that the config.json of a folder describes: gpt2, llama, mistral, qwen2, qwen3, gpt_neox
// or bloom. Entries have the meaning and the defaults of transformers 5. Throws FileError for a
// file that cannot be read, for other models, for values that a Gpt does not support
// ("rope_scaling": yarn, "hidden_act": relu in a gated network), and for unknown entries, which
// might change the result.
WEFT_API PretrainedGpt read_pretrained_gpt(const std::filesystem::path& folder);

// The same for t5, with its later versions such as Flan-T5. Also reads whether there are weights of
// an output layer of its own.
WEFT_API PretrainedEncoderDecoder
read_pretrained_encoder_decoder(const std::filesystem::path& folder);
// The same for bert and roberta. Also reads whether there are weights of a pooler.
WEFT_API BertOptions read_pretrained_bert(const std::filesystem::path& folder);

// Returns the path of a folder's weights: model.safetensors, model.safetensors.index.json or
// model.h5. Throws FileError if the folder contains none of these files.
WEFT_API std::filesystem::path pretrained_weights(const std::filesystem::path& folder);

// The model of a folder with its weights, which are never drawn. Adapters in the folder are not
// loaded: see load_lora. Throws as the functions above and load_weights do.
//   const Gpt model = load_pretrained_gpt("SmolLM2-135M-Instruct");
template <class T = float>
WEFT_API Gpt<T> load_pretrained_gpt(const std::filesystem::path& folder);

// The same for the models of read_pretrained_encoder_decoder.
template <class T = float>
WEFT_API EncoderDecoder<T> load_pretrained_encoder_decoder(const std::filesystem::path& folder);
// The same for the models of read_pretrained_bert.
template <class T = float>
WEFT_API Bert<T> load_pretrained_bert(const std::filesystem::path& folder);

// Writes a folder, which is created where it is none, that transformers' from_pretrained reads:
// config.json of one of the types that `read_pretrained_gpt` reads, and model.safetensors. The
// options are those of the model. Throws ValueError for a Gpt that is of none of these types, and
// FileError when writing fails.
//   save_pretrained_gpt("fine_tuned", gpt, read_pretrained_gpt("SmolLM2-135M-Instruct"));
template <class T>
WEFT_API void save_pretrained_gpt(const std::filesystem::path& folder, const Gpt<T>& model,
                                  const PretrainedGpt& description,
                                  StorageType storage = StorageType::same);
// The same for a model of the form of T5.
template <class T>
WEFT_API void save_pretrained_encoder_decoder(const std::filesystem::path& folder,
                                              const EncoderDecoder<T>& model,
                                              const PretrainedEncoderDecoder& description,
                                              StorageType storage = StorageType::same);
// The same for a Bert: of the type "roberta" with `first_position`, else "bert".
template <class T>
WEFT_API void save_pretrained_bert(const std::filesystem::path& folder, const Bert<T>& model,
                                   const BertOptions& options,
                                   StorageType storage = StorageType::same);

}  // namespace weft
