#include "examples/common/search.hpp"

#include <algorithm>
#include <numeric>

namespace weft::examples {
namespace {

// Rows `rows` of x [N, time, width].
Var<float> gather(const Var<float>& x, std::span<const Index> rows) {
  Tokens indices({static_cast<Index>(rows.size())});
  std::copy(rows.begin(), rows.end(), indices.begin());
  const Index time = x.shape()[1], width = x.shape()[2];
  return reshape(embedding(indices, reshape(x, {-1, time * width})), {-1, time, width});
}

ValidLens gather(const ValidLens& valid_lens, std::span<const Index> rows) {
  std::vector<std::int32_t> lengths;
  for (const Index row : rows) lengths.push_back(valid_lens.lengths()(row));
  return ValidLens(lengths);
}

// The hypotheses of one batch.
std::vector<std::vector<Hypothesis>> search_batch(const EncoderDecoder<float>& model,
                                                  std::span<const Sequence> sources,
                                                  const SearchOptions& options) {
  Tape tape = Tape<float>::inference();
  const PaddedTokens padded = pad_sequences(sources);
  const Var<float> memory = model.encode(tape, padded);
  const auto next = [&](const Prefixes& prefixes) {
    const Index time = prefixes.tokens.shape()[1];
    const Var<float> states = model.decode(prefixes.tokens, gather(memory, prefixes.sources),
                                           gather(padded.valid_lens, prefixes.sources));
    const Var<float> logits = model.output(slice(states, 1, time - 1, time));
    return reshape(log_softmax(logits), {-1, logits.shape().columns()}).value();
  };
  return beam_search(
      next, static_cast<Index>(sources.size()),
      {.beam_width = options.beam_width, .max_length = model.max_length, .n_best = options.n_best});
}

}  // namespace

std::vector<std::vector<Hypothesis>> search(const EncoderDecoder<float>& model,
                                            std::span<const Sequence> sources,
                                            const SearchOptions& options) {
  constexpr std::size_t batch_size = 128;
  std::vector<std::size_t> order(sources.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sources[a].size() < sources[b].size();
  });

  std::vector<std::vector<Hypothesis>> hypotheses(sources.size());
  for (std::size_t begin = 0; begin < order.size(); begin += batch_size) {
    const std::size_t end = std::min(begin + batch_size, order.size());
    std::vector<Sequence> batch;
    for (std::size_t i = begin; i < end; ++i) batch.push_back(sources[order[i]]);
    auto batch_hypotheses = search_batch(model, batch, options);
    for (std::size_t i = begin; i < end; ++i)
      hypotheses[order[i]] = std::move(batch_hypotheses[i - begin]);
  }
  return hypotheses;
}

}  // namespace weft::examples
