#include "examples/embed/sentence_model.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <weft/autograd/ops/normalization.hpp>
#include <weft/train/data/padding.hpp>
#include <weft/train/pretrained/pretrained.hpp>

namespace weft::embed {
SentenceModel::SentenceModel(const std::filesystem::path& folder)
    : SentenceModel(read_sentence_files(folder)) {}

SentenceModel::SentenceModel(SentenceFiles files)
    : tokenizer(files.vocabulary, files.tokenizer),
      encoder(load_bert(files.transformer, {.tokenizer = false}).model),
      pooling(files.pooling),
      dense(std::move(files.dense)),
      prompt(std::move(files.prompt)) {
  max_len = encoder.options.max_len;
  max_len = std::min(max_len, files.max_len.value_or(max_len));
  const std::filesystem::path& folder = files.transformer;
  if (const Index rows = encoder.tokens.weight.shape()[0]; tokenizer.size() > rows)
    fail<FileError>(str_cat("vocabulary '", files.vocabulary.string(), "'"),
                    str_cat("at most the ", rows, " tokens of config.json"), tokenizer.size());
  for (Index size = encoder.tokens.weight.shape()[1]; const DenseLayer& layer : dense) {
    if (layer.linear.in_features() != size)
      fail<FileError>(str_cat("folder '", folder.string(), "'"),
                      str_cat("a Dense module with in_features ", size),
                      layer.linear.in_features());
    size = layer.linear.out_features();
  }
}

Tensor<float> SentenceModel::vectors(std::span<const TokenIds> sentences, Index batch_size) const {
  const Index num_hiddens =
      dense.empty() ? encoder.tokens.weight.shape()[1] : dense.back().linear.out_features();
  std::vector<std::size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sentences[a].size() < sentences[b].size();
  });
  Tensor<float> result({std::ssize(sentences), num_hiddens});
  Tape<float> tape = Tape<float>::inference();
  const auto step = static_cast<std::size_t>(batch_size);
  for (std::size_t begin = 0; begin < order.size(); begin += step) {
    const std::size_t end = std::min(begin + step, order.size());
    std::vector<TokenIds> batch;
    for (std::size_t i = begin; i < end; ++i) batch.push_back(sentences[order[i]]);
    const PaddedTokens padded = pad_sequences(batch);
    const Var<float> states = encoder(tape, padded.tokens, padded.valid_lens);
    Var<float> pooled = pooling(states, padded.valid_lens);
    for (const DenseLayer& layer : dense) pooled = layer.linear(pooled, layer.activation);
    const Tensor<float> rows = normalize(pooled).value();
    for (std::size_t i = begin; i < end; ++i)
      std::copy_n(rows.data() + static_cast<Index>(i - begin) * num_hiddens, num_hiddens,
                  result.data() + static_cast<Index>(order[i]) * num_hiddens);
    tape.clear();
  }
  return result;
}

}  // namespace weft::embed
