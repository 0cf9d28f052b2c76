// SentenceModel: an encoder of sentences, from the files of a model of Hugging Face.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/layers/models/bert.hpp>
#include <weft/layers/sequence_pooling.hpp>
#include <weft/train/tokenizers/word_piece.hpp>

namespace weft::embed {

class SentenceModel {
 public:
  // A folder as load_pretrained_bert reads it, with vocab.txt. Where there are
  // tokenizer_config.json, sentence_bert_config.json (the longest sequence) and
  // 1_Pooling/config.json, they are read, too; otherwise letters become lower-case, sequences are
  // as long as the model has positions, and pooling is the mean. Throws FileError, or ValueError
  // for options that the model cannot have.
  explicit SentenceModel(const std::filesystem::path& folder);

  // [CLS], the tokens of a sentence, of which the first that fit into max_len are kept, and [SEP].
  Sequence tokens(const std::string& sentence) const { return tokenizer.encode(sentence, max_len); }
  // A vector of length 1 for each sentence, [sentences, num_hiddens], computed in batches of
  // sentences of similar lengths.
  Tensor<float> vectors(std::span<const Sequence> sentences, Index batch_size) const;

  WordPiece tokenizer;
  Bert<float> encoder;
  SequencePooling<float> pooling;
  Index max_len;
};

}  // namespace weft::embed
