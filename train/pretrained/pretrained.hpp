// Loads and saves complete models: checkpoints of weft, and Hugging Face folders with config.json
// and model.safetensors.
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

// A model with its tokenizer and special tokens.
template <class Model>
struct LoadedModel {
  Model model;  // with the loaded weights
  // The tokenizer in the checkpoint or folder. Has no tokens (see Tokenizer::empty) if there is
  // none.
  Tokenizer tokenizer = {};
  // The tokens that end a generated text. For a Hugging Face folder, eos_token_id of
  // generation_config.json, or else of config.json, without ids outside the vocabulary. For a
  // checkpoint, Tokenizer::eos_token_ids.
  TokenIds eos_token_ids = {};
  // The token that every target sequence of an EncoderDecoder starts with. For a Hugging Face
  // folder, decoder_start_token_id of config.json. For a checkpoint, Vocabulary::bos.
  TokenId decoder_start_token_id = Vocabulary::bos;
};

// Options of load_gpt, load_bert, load_encoder_decoder and load_encoder_classifier.
struct LoadModelOptions {
  // Whether to load the tokenizer. If false, LoadedModel::tokenizer has no tokens.
  bool tokenizer = true;
};

// Loads a Gpt and its tokenizer. The weights are not initialized with random numbers first. `path`
// is
// - a checkpoint written by Trainer or save_checkpoint. If it contains a moving average, the
//   averages are loaded. Its tokenizer must have been saved with the name "tokenizer" (see
//   TrainingLoop::register_for_checkpointing);
// - the folder of a training run, which contains best.h5; or
// - the folder of a Hugging Face model, which contains weights (see pretrained_weights) and
//   config.json with the model type gpt2, llama, mistral, qwen2, qwen3, gpt_neox or bloom. Entries
//   of config.json have the same meaning and defaults as in transformers 5. See Tokenizer::load for
//   the tokenizer.
//
// Throws FileError, naming the file, if a file cannot be read; if a checkpoint contains a different
// model, or does not contain the model's options because weft 0.2 wrote it; if config.json contains
// a different type, an unknown entry or a value that Gpt does not support ("rope_scaling": yarn,
// "hidden_act": relu in a gated network); and for errors of load_checkpoint and load_weights.
//   const auto gpt = load_gpt("run/best.h5");
//   const TokenIds ids = generate(gpt.model, gpt.tokenizer.encode("Once"), {.max_tokens = 50});
template <class T = float>
WEFT_API LoadedModel<Gpt<T>> load_gpt(const std::filesystem::path& path,
                                      const LoadModelOptions& options = {});
// Loads a Bert like load_gpt, with the Hugging Face types bert and roberta. The model has a pooler
// if the weights contain one.
template <class T = float>
WEFT_API LoadedModel<Bert<T>> load_bert(const std::filesystem::path& path,
                                        const LoadModelOptions& options = {});
// Loads an EncoderDecoder like load_gpt, with the Hugging Face type t5, which includes later
// versions such as Flan-T5. The model has an output layer if the weights contain one.
template <class T = float>
WEFT_API LoadedModel<EncoderDecoder<T>> load_encoder_decoder(const std::filesystem::path& path,
                                                             const LoadModelOptions& options = {});
// Loads an EncoderClassifier from a checkpoint or the folder of a training run, like load_gpt.
template <class T = float>
WEFT_API LoadedModel<EncoderClassifier<T>> load_encoder_classifier(
    const std::filesystem::path& path, const LoadModelOptions& options = {});

// Returns the path of the weights in a folder: model.safetensors, model.safetensors.index.json or
// model.h5, in this order. Throws FileError if the folder contains none of these files.
WEFT_API std::filesystem::path pretrained_weights(const std::filesystem::path& folder);

// Options of save_pretrained.
struct SavePretrainedOptions {
  // The tokens that end a generated text.
  TokenIds eos_token_ids = {};
  // The token that every target sequence of an EncoderDecoder starts with.
  TokenId decoder_start_token_id = 0;
  // The type of the numbers in model.safetensors.
  StorageType storage = StorageType::same;
};

// Writes a Gpt to a folder that transformers' from_pretrained can load: config.json, with one of
// the types that load_gpt supports, and model.safetensors. Creates the folder if it does not exist.
// Throws ValueError if the Gpt has options that none of these types supports or a token is outside
// the vocabulary, and FileError if writing fails.
//   const auto gpt = load_gpt("gpt2");
//   save_pretrained("copy", gpt.model, {.eos_token_ids = gpt.eos_token_ids});
template <class T>
WEFT_API void save_pretrained(const std::filesystem::path& folder, const Gpt<T>& model,
                              const SavePretrainedOptions& options = {});
// Writes an EncoderDecoder like the function above, with the type t5. Throws ValueError if the
// model does not have the architecture of T5.
template <class T>
WEFT_API void save_pretrained(const std::filesystem::path& folder, const EncoderDecoder<T>& model,
                              const SavePretrainedOptions& options = {});
// Writes a Bert like the functions above: with the type roberta if it has a `first_position`,
// otherwise bert. `eos_token_ids` is ignored.
template <class T>
WEFT_API void save_pretrained(const std::filesystem::path& folder, const Bert<T>& model,
                              const SavePretrainedOptions& options = {});

}  // namespace weft
