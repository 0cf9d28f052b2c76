// SentenceModel: a sentence encoder, loaded from a Hugging Face model folder.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/layers/models/bert.hpp>
#include <weft/layers/sequence_pooling.hpp>
#include <weft/train/text/tokenizers/word_piece.hpp>
#include "examples/embed/sentence_files.hpp"

namespace weft::embed {

class SentenceModel {
 public:
  // Loads a folder with the files of load_bert and read_sentence_files, and with tokenizer.json or
  // vocab.txt. Throws the same exceptions as these two functions.
  explicit SentenceModel(const std::filesystem::path& folder);

  // Returns the tokens of the prompt and a sentence between [CLS] and [SEP], truncated to max_len
  // tokens in all.
  TokenIds tokens(const std::string& sentence) const {
    return tokenizer.encode(prompt + sentence, max_len);
  }
  // Returns a vector of length 1 for each sentence, [sentences, size]. Sentences of similar lengths
  // are computed in one batch.
  Tensor<float> vectors(std::span<const TokenIds> sentences, Index batch_size) const;

  WordPiece tokenizer;
  Bert<float> encoder;
  SequencePooling<float> pooling;
  std::vector<DenseLayer> dense;
  std::string prompt;
  Index max_len;

 private:
  explicit SentenceModel(SentenceFiles files);
};

}  // namespace weft::embed
