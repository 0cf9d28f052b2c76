// SentenceModel: an encoder of sentences, from the files of a model of Hugging Face.
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
  // Reads a folder that load_bert reads, with tokenizer.json or vocab.txt and the files of
  // read_sentence_files. Throws the same exceptions as these two functions.
  explicit SentenceModel(const std::filesystem::path& folder);

  // Returns [CLS], the tokens of the prompt and a sentence, cut so that max_len tokens remain, and
  // [SEP].
  TokenIds tokens(const std::string& sentence) const {
    return tokenizer.encode(prompt + sentence, max_len);
  }
  // A vector of length 1 for each sentence, [sentences, size], computed in batches of
  // sentences of similar lengths.
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
