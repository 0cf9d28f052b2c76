// Generation: greedy and beam search over a model's next-token probabilities.
#pragma once

#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"
#include "weft/train/data/vocabulary.hpp"

namespace weft {

// The prefixes that a search extends, all of length t.
struct Prefixes {
  Tokens tokens;                   // [N, t]; the first column is <bos>
  std::span<const Index> sources;  // [N] the source of each prefix, ascending
  std::span<const Index>
      parents;  // [N] the row of its parent prefix in the previous call; empty at t = 1
};

// Returns the log-probabilities of the token after each prefix, [N, vocabulary].
template <class T>
using NextTokenFunction = std::function<Tensor<T>(const Prefixes&)>;

// Of beam_search and greedy_search.
struct BeamSearchOptions {
  Index beam_width = 4;  // the number of prefixes that are kept at each step
  // The maximum number of tokens of a hypothesis, <eos> included.
  Index max_len = 64;
  TokenId bos = Vocabulary::bos;  // begins every prefix
  TokenId eos = Vocabulary::eos;  // ends a hypothesis
  // α ≥ 0: hypotheses of L tokens (<eos> included) are ranked by log-probability / L^α.
  double length_penalty = 0.0;
  // The number of hypotheses per source, at most beam_width.
  Index n_best = 1;
};

// A sequence found by a search.
struct Hypothesis {
  TokenIds tokens;               // without <bos> and <eos>
  double log_probability = 0.0;  // of all tokens, <eos> included
  double score = 0.0;            // log_probability / L^length_penalty
  bool finished = false;         // false when it reached max_len before <eos>
};

// Returns the best hypotheses of each of `num_sources` sources, best first, finished ones before
// unfinished ones; fewer than n_best only if fewer have a probability above 0. At each step the
// `beam_width` most probable continuations of a source are kept; one call of `next` scores the
// prefixes of all sources that are not done. Ties are broken by the better prefix, then by the
// lower token id. Throws ShapeError when `next` returns another shape, ValueError for options
// outside their ranges, an empty `next` or log-probabilities above 0, NonFiniteError for NaN.
//   const auto hypotheses = beam_search(next_token, 2, {.beam_width = 4});  // of sources 0 and 1
template <class T = float>
WEFT_API std::vector<std::vector<Hypothesis>> beam_search(
    const std::type_identity_t<NextTokenFunction<T>>& next, Index num_sources,
    const BeamSearchOptions& options = {});

// Returns for each source the sequence of the most probable next tokens: beam search with width 1.
// Throws as it does.
template <class T = float>
WEFT_API std::vector<Hypothesis> greedy_search(
    const std::type_identity_t<NextTokenFunction<T>>& next, Index num_sources,
    BeamSearchOptions options = {});

}  // namespace weft
