// Models from files: checkpoints of weft, and folders of Hugging Face models with config.json and
// model.safetensors.
#pragma once

#include <filesystem>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/layers/models/bert.hpp"
#include "weft/layers/models/encoder_classifier.hpp"
#include "weft/layers/models/encoder_decoder.hpp"
#include "weft/layers/models/gpt.hpp"
#include "weft/train/text/tokenizers/tokenizer.hpp"
#include "weft/train/weights/load_weights.hpp"
#include "weft/train/weights/save_weights.hpp"

namespace weft {

// A model with its tokens.
template <class Model>
struct LoadedModel {
  Model model;
  // The tokenizer of the checkpoint or the folder, without tokens if there is none (see
  // Tokenizer::empty).
  Tokenizer tokenizer = {};
  // The tokens that end a text: eos_token_id of generation_config.json, or else of config.json,
  // without ids outside the vocabulary. For checkpoints, Tokenizer::eos_token_ids.
  TokenIds eos_token_ids = {};
  // The token that each target of an EncoderDecoder begins with: decoder_start_token_id of
  // config.json. For checkpoints, Vocabulary::bos.
  TokenId decoder_start_token_id = Vocabulary::bos;
};

// Options of load_gpt and of the functions like it.
struct LoadModelOptions {
  // Whether to read the tokenizer, too. Otherwise, it is without tokens.
  bool tokenizer = true;
};

// Loads a Gpt with its tokenizer, without drawing random numbers for the weights. `path` is one of
// - a checkpoint that Trainer or save_checkpoint wrote. If it contains a moving average, the
//   weights are the averages. The tokenizer is the one that was saved as "tokenizer" (see
//   TrainingLoop::register_for_checkpointing);
// - a folder of a training, with best.h5;
// - a folder of a Hugging Face model, with config.json of the type gpt2, llama, mistral, qwen2,
//   qwen3, gpt_neox or bloom, and with weights (see pretrained_weights). Its entries have the
//   meaning and the defaults of transformers 5. See Tokenizer::load for the tokenizer.
// Throws FileError, naming the file, for a file that cannot be read; for a checkpoint without the
// options of its model, which weft 0.2 wrote, or of another model; for other types, values that a
// Gpt does not support ("rope_scaling": yarn, "hidden_act": relu in a gated network) and unknown
// entries in config.json; and for what load_checkpoint and load_weights refuse.
//   const auto gpt = load_gpt("run/best.h5");
//   const TokenIds ids = generate(gpt.model, gpt.tokenizer.encode("Once"), {.max_tokens = 50});
template <class T = float>
WEFT_API LoadedModel<Gpt<T>> load_gpt(const std::filesystem::path& path,
                                      const LoadModelOptions& options = {});
// Loads a Bert like load_gpt; Hugging Face types bert and roberta. The model has a pooler if the
// weights contain one.
template <class T = float>
WEFT_API LoadedModel<Bert<T>> load_bert(const std::filesystem::path& path,
                                        const LoadModelOptions& options = {});
// Loads an EncoderDecoder like load_gpt; Hugging Face type t5, including later versions such as
// Flan-T5. The model has an output layer if the weights contain one.
template <class T = float>
WEFT_API LoadedModel<EncoderDecoder<T>> load_encoder_decoder(const std::filesystem::path& path,
                                                             const LoadModelOptions& options = {});
// Loads an EncoderClassifier from a checkpoint, like load_gpt.
template <class T = float>
WEFT_API LoadedModel<EncoderClassifier<T>> load_encoder_classifier(
    const std::filesystem::path& path, const LoadModelOptions& options = {});

// Returns the path of the weights in a folder: model.safetensors, model.safetensors.index.json or
// model.h5. Throws FileError if there are none.
WEFT_API std::filesystem::path pretrained_weights(const std::filesystem::path& folder);

// Options of save_pretrained.
struct SavePretrainedOptions {
  // The tokens that end a text; ids outside the vocabulary are not written.
  TokenIds eos_token_ids = {};
  // The token that each target of an EncoderDecoder begins with.
  TokenId decoder_start_token_id = 0;
  // The type of the numbers in model.safetensors.
  StorageType storage = StorageType::same;
};

// Writes a folder that transformers' from_pretrained reads: config.json of one of the types that
// load_gpt reads, and model.safetensors. Creates the folder if it does not exist. Throws ValueError
// for a Gpt that is of none of these types, and FileError when writing fails.
//   save_pretrained("fine_tuned", gpt.model, {.eos_token_ids = gpt.eos_token_ids});
template <class T>
WEFT_API void save_pretrained(const std::filesystem::path& folder, const Gpt<T>& model,
                              const SavePretrainedOptions& options = {});
// Writes an EncoderDecoder of the form of T5. Throws ValueError for other forms.
template <class T>
WEFT_API void save_pretrained(const std::filesystem::path& folder, const EncoderDecoder<T>& model,
                              const SavePretrainedOptions& options = {});
// Writes a Bert: of the type roberta if it has a `first_position`, otherwise bert. It has no tokens
// that end a text.
template <class T>
WEFT_API void save_pretrained(const std::filesystem::path& folder, const Bert<T>& model,
                              const SavePretrainedOptions& options = {});

}  // namespace weft
