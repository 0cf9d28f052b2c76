// read_sentence_files: what the files of a sentence encoder say besides the model's weights.
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

// A linear map of the pooled vectors, with an activation.
struct DenseLayer {
  Linear<float> linear;
  Activation activation;
};

struct SentenceFiles {
  // The folder of config.json and the weights.
  std::filesystem::path transformer;
  // The folder's tokenizer.json if it exists, otherwise vocab.txt.
  std::filesystem::path vocabulary;
  WordPieceOptions tokenizer;
  // The maximum number of tokens, if the files limit it.
  std::optional<Index> max_len;
  Pooling pooling = Pooling::mean;
  // Whether the mean is times the square root of the length (mean_sqrt_len_tokens), which does not
  // change a vector of length 1.
  bool is_divided_by_root = false;
  std::vector<DenseLayer> dense;
  // The text before each sentence.
  std::string prompt;
};

// Reads the files of a sentence-transformers folder as sentence-transformers does: modules.json,
// sentence_bert_config.json, config_sentence_transformers.json, tokenizer_config.json,
// special_tokens_map.json, added_tokens.json and the modules' folders. All of them may be missing:
// the mean of the lower-case tokens is then the vector of a sentence. Throws FileError, naming the
// file and the field, for modules and options that weft does not support.
SentenceFiles read_sentence_files(const std::filesystem::path& folder);

}  // namespace weft::embed
