#include "examples/embed/sentence_model.hpp"

#include <algorithm>
#include <numeric>

#include <weft/autograd/ops/normalization.hpp>
#include <weft/train/data/padding.hpp>
#include <weft/train/weights/pretrained.hpp>
#include "examples/common/json_config.hpp"

namespace weft::embed {
namespace {

namespace fs = std::filesystem;
using examples::JsonConfig;

WordPieceOptions tokenizer_options(const fs::path& folder) {
  const fs::path path = folder / "tokenizer_config.json";
  if (!fs::exists(path)) return {};
  const JsonConfig config(path);
  if (!config.flag("tokenize_chinese_chars", true))
    config.fail_on("tokenize_chinese_chars", "true");
  WordPieceOptions options{.lower_case = config.flag("do_lower_case", true)};
  if (config.has("strip_accents")) options.strip_accents = config.flag("strip_accents");
  return options;
}

Pooling pooling_of(const fs::path& folder) {
  const fs::path path = folder / "1_Pooling" / "config.json";
  if (!fs::exists(path)) return Pooling::mean;
  const JsonConfig config(path);
  for (const char* mode : {"pooling_mode_mean_sqrt_len_tokens", "pooling_mode_weightedmean_tokens",
                           "pooling_mode_lasttoken"})
    if (config.flag(mode, false)) config.fail_on(mode, "false");
  const bool mean = config.flag("pooling_mode_mean_tokens", false),
             first = config.flag("pooling_mode_cls_token", false),
             max = config.flag("pooling_mode_max_tokens", false);
  if (mean + first + max != 1)
    config.fail_on("pooling_mode_mean_tokens",
                   "one of mean, cls and max to be true: true or false");
  return mean ? Pooling::mean : first ? Pooling::first : Pooling::max;
}

Index max_len_of(const fs::path& folder, Index positions) {
  const fs::path path = folder / "sentence_bert_config.json";
  if (!fs::exists(path)) return positions;
  return std::min(positions, JsonConfig(path).size("max_seq_length", positions));
}

}  // namespace

SentenceModel::SentenceModel(const fs::path& folder)
    : tokenizer(folder / "vocab.txt", tokenizer_options(folder)),
      encoder(load_pretrained_bert(folder)),
      pooling(pooling_of(folder)),
      max_len(max_len_of(folder, encoder.positions.weight.shape()[0] - encoder.first_position)) {
  if (const Index rows = encoder.tokens.weight.shape()[0]; tokenizer.size() > rows)
    fail<FileError>(concatenate_text("vocabulary '", (folder / "vocab.txt").string(), "'"),
                    concatenate_text("at most the ", rows, " tokens of config.json"),
                    tokenizer.size());
}

Tensor<float> SentenceModel::vectors(std::span<const Sequence> sentences, Index batch_size) const {
  const Index num_hiddens = encoder.tokens.weight.shape()[1];
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
    std::vector<Sequence> batch;
    for (std::size_t i = begin; i < end; ++i) batch.push_back(sentences[order[i]]);
    const PaddedTokens padded = pad_sequences(batch);
    const Var<float> states = encoder(tape, padded.tokens, padded.valid_lens);
    const Tensor<float> rows = normalize(pooling(states, padded.valid_lens)).value();
    for (std::size_t i = begin; i < end; ++i)
      std::copy_n(rows.data() + static_cast<Index>(i - begin) * num_hiddens, num_hiddens,
                  result.data() + static_cast<Index>(order[i]) * num_hiddens);
    tape.clear();
  }
  return result;
}

}  // namespace weft::embed
