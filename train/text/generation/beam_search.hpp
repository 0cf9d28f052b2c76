// beam_search, greedy_search: search for the most probable sequences of a model.
#pragma once

#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"
#include "weft/train/data/vocabulary.hpp"

namespace weft {

// The prefixes that a search extends, all of the same length t.
struct Prefixes {
  Tokens tokens;                   // [N, t]; the first column is <bos>
  std::span<const Index> sources;  // [N], ascending: the source of each prefix
  // [N]: the row of each prefix's parent in the previous call; empty if t = 1
  std::span<const Index> parents;
};

// A function that returns the log-probabilities of the token after each prefix, [N, vocabulary].
template <class T>
using NextTokenFunction = std::function<Tensor<T>(const Prefixes&)>;

// Options of beam_search and greedy_search.
struct BeamSearchOptions {
  Index beam_width = 4;  // number of prefixes per source that are kept at each step
  // The maximum number of tokens in a hypothesis, including <eos>.
  Index max_len = 64;
  // The minimum number of tokens before <eos> (transformers' min_new_tokens).
  Index min_len = 0;
  TokenId bos = Vocabulary::bos;               // first token of every prefix
  TokenIds eos_token_ids = {Vocabulary::eos};  // tokens that finish a hypothesis
  // α ≥ 0; hypotheses of L tokens, including <eos>, are ranked by log-probability / L^α.
  double length_penalty = 0.0;
  // The number of hypotheses per source, at most beam_width.
  Index n_best = 1;
  // Excludes tokens that would complete a sequence of this many tokens that the prefix, including
  // <bos>, already contains; 0 excludes none.
  Index no_repeat_ngram_size = 0;
  // If set, called with a source, each of its prefixes without <bos>, and the log-probabilities
  // [vocabulary] of the next token. It may change them, to at most 0; -infinity excludes a token.
  std::function<void(Index source, std::span<const TokenId> prefix,
                     std::span<double> log_probabilities)>
      process = {};
  // If set, called after each step with a source that is not done and its most probable prefix,
  // without <bos>. Returns whether to continue with this source.
  std::function<bool(Index source, std::span<const TokenId> prefix)> on_token = {};
};

// A sequence found by a search.
struct Hypothesis {
  TokenIds tokens;               // without <bos> and <eos>
  double log_probability = 0.0;  // log-probability of all tokens, including <eos>
  double score = 0.0;            // log_probability / L^length_penalty
  bool finished = false;         // whether it ends with <eos>; if not, it reached max_len
};

// Returns the n_best hypotheses of each of `num_sources` sources: finished hypotheses first, each
// kind by descending score. There are fewer than n_best only if fewer have a probability above 0.
//
// Each step keeps the `beam_width` most probable continuations of a source. One call of `next`
// scores the prefixes of all sources that are not done. Ties are broken by the better prefix, then
// by the lower token id. Throws ShapeError if `next` returns a tensor of a different shape,
// ValueError for options outside their ranges, an empty `next` or log-probabilities above 0, and
// NonFiniteError for NaN.
//   const auto hypotheses = beam_search(next_token, 2, {.beam_width = 4});  // for sources 0 and 1
template <class T = float>
WEFT_API std::vector<std::vector<Hypothesis>> beam_search(
    const std::type_identity_t<NextTokenFunction<T>>& next, Index num_sources,
    const BeamSearchOptions& options = {});

// Returns the sequence of the most probable next tokens for each source: beam search with width 1.
// Throws the same exceptions as `beam_search`.
template <class T = float>
WEFT_API std::vector<Hypothesis> greedy_search(
    const std::type_identity_t<NextTokenFunction<T>>& next, Index num_sources,
    BeamSearchOptions options = {});

}  // namespace weft
