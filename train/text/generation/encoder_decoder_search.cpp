#include "weft/train/text/generation/encoder_decoder_search.hpp"

#include <algorithm>
#include <numeric>

#include "weft/autograd/ops/shaping.hpp"
#include "weft/autograd/ops/softmax.hpp"
#include "weft/autograd/parallel.hpp"
#include "weft/train/data/padding.hpp"

namespace weft {
namespace {

// Returns the number of sources that are searched together. It is small enough that the keys and
// values that a step reads remain in a core's caches.
Index batch_size(Index beam_width) { return beam_width < 3 ? 32 : 12; }

// Returns the last token of each prefix, [N, 1].
Tokens last_column(const Tokens& prefixes) {
  const Index time = prefixes.shape()[1];
  Tokens last({prefixes.shape()[0], 1});
  for (Index i = 0; TokenId & token : last) token = prefixes(i++, time - 1);
  return last;
}

// Returns the hypotheses of one batch.
template <class T>
std::vector<std::vector<Hypothesis>> search_batch(const EncoderDecoder<T>& model,
                                                  std::span<const TokenIds> sources,
                                                  const BeamSearchOptions& options) {
  Tape<T> tape = Tape<T>::inference();
  const PaddedTokens padded = pad_sequences(sources);
  DecoderCache<T> cache =
      model.start(model.encode(tape, padded.tokens, padded.valid_lens), padded.valid_lens);
  const auto next = [&](const Prefixes& prefixes) {
    cache.reorder(prefixes.parents.empty() ? prefixes.sources : prefixes.parents);
    const Var<T> logits = model.logits(model.extend(tape, last_column(prefixes.tokens), cache));
    return reshape(log_softmax(logits), {-1, logits.shape().columns()}).value();
  };
  return beam_search<T>(next, std::ssize(sources), options);
}

}  // namespace

template <class T>
std::vector<std::vector<Hypothesis>> beam_search(const EncoderDecoder<T>& model,
                                                 std::span<const TokenIds> sources,
                                                 const BeamSearchOptions& options) {
  BeamSearchOptions of_model = options;
  of_model.max_len = std::min(options.max_len, model.options.max_len);
  std::vector<std::size_t> order(sources.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sources[a].size() < sources[b].size();
  });

  std::vector<std::vector<Hypothesis>> hypotheses(sources.size());
  const auto search = [&](Index begin, Index end) {
    const auto indices = std::span(order).subspan(static_cast<std::size_t>(begin),
                                                  static_cast<std::size_t>(end - begin));
    std::vector<TokenIds> batch;
    for (const std::size_t index : indices) batch.push_back(sources[index]);
    BeamSearchOptions of_batch = of_model;
    if (options.process)
      of_batch.process = [&](Index source, auto prefix, auto log_probabilities) {
        options.process(static_cast<Index>(indices[static_cast<std::size_t>(source)]), prefix,
                        log_probabilities);
      };
    if (options.on_token)
      of_batch.on_token = [&](Index source, auto prefix) {
        return options.on_token(static_cast<Index>(indices[static_cast<std::size_t>(source)]),
                                prefix);
      };
    auto batch_hypotheses = search_batch<T>(model, batch, of_batch);
    for (std::size_t i = 0; i < indices.size(); ++i)
      hypotheses[indices[i]] = std::move(batch_hypotheses[i]);
  };
  const Index count = std::ssize(sources), batch = batch_size(options.beam_width);
  // Each batch is searched by one thread, because a step of a small model is too short to divide.
  // The user's functions are called by one thread.
  if (options.process || options.on_token)
    for (Index begin = 0; begin < count; begin += batch)
      search(begin, std::min(begin + batch, count));
  else
    parallel_for(count, batch, search);
  return hypotheses;
}

template <class T>
std::vector<Hypothesis> greedy_search(const EncoderDecoder<T>& model,
                                      std::span<const TokenIds> sources,
                                      BeamSearchOptions options) {
  options.beam_width = options.n_best = 1;
  std::vector<Hypothesis> best;
  for (std::vector<Hypothesis>& hypotheses : beam_search(model, sources, options))
    best.push_back(hypotheses.empty() ? Hypothesis{} : std::move(hypotheses.front()));
  return best;
}

template std::vector<std::vector<Hypothesis>> beam_search(const EncoderDecoder<float>&,
                                                          std::span<const TokenIds>,
                                                          const BeamSearchOptions&);
template std::vector<std::vector<Hypothesis>> beam_search(const EncoderDecoder<double>&,
                                                          std::span<const TokenIds>,
                                                          const BeamSearchOptions&);

template std::vector<Hypothesis> greedy_search(const EncoderDecoder<float>&,
                                               std::span<const TokenIds>, BeamSearchOptions);
template std::vector<Hypothesis> greedy_search(const EncoderDecoder<double>&,
                                               std::span<const TokenIds>, BeamSearchOptions);

}  // namespace weft
