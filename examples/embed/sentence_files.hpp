// read_sentence_files: reads the configuration files of a sentence encoder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <weft/autograd/ops/activation.hpp>
#include <weft/layers/linear.hpp>
#include <weft/layers/sequence_pooling.hpp>
#include <weft/train/text/tokenizers/word_piece.hpp>

namespace weft::embed {

// A Dense module: a linear map of the pooled vectors, with an activation.
struct DenseLayer {
  Linear<float> linear;
  Activation activation;
};

// The settings of a sentence encoder.
struct SentenceFiles {
  // The folder of config.json and the weights.
  std::filesystem::path transformer;
  // The folder's tokenizer.json if it exists, otherwise vocab.txt.
  std::filesystem::path vocabulary;
  WordPieceOptions tokenizer;
  // The maximum number of tokens, if the files limit it.
  std::optional<Index> max_len;
  Pooling pooling = Pooling::mean;
  // Whether the sum is divided by the square root of the length, not by the length
  // (mean_sqrt_len_tokens). After scaling to length 1, both are equal.
  bool is_divided_by_root = false;
  std::vector<DenseLayer> dense;
  // Inserted before each sentence.
  std::string prompt;
};

// Reads the files of a sentence-transformers folder as sentence-transformers does: modules.json,
// sentence_bert_config.json, config_sentence_transformers.json, tokenizer_config.json,
// special_tokens_map.json, added_tokens.json and the modules' folders. All of these files are
// optional; without them, sentences are converted to lower case and the pooling is `mean`. Throws
// FileError, naming the file and the field, for modules and options that weft does not support.
SentenceFiles read_sentence_files(const std::filesystem::path& folder);

}  // namespace weft::embed
