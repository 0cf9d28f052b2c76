#include "weft/train/text/generation/beam_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "weft/autograd/error.hpp"
#include "weft/autograd/parallel.hpp"
#include "autograd/internal/checks.hpp"
#include "train/text/generation/internal/repeated_ngrams.hpp"

namespace weft {
namespace {

// A prefix that the search for a source extends.
struct LivePrefix {
  TokenIds tokens;  // without <bos>
  double log_probability = 0.0;
  Index row = 0;  // its row in the previous call of the model
};

// One more token after a live prefix.
struct Candidate {
  std::size_t prefix;
  TokenId token;
  double log_probability;

  // Whether it ranks before `other`; ties keep the order of prefixes and tokens.
  bool better_than(const Candidate& other) const { return log_probability > other.log_probability; }
};

// The search for one source.
class Beam {
 public:
  Beam(const BeamSearchOptions& options, Index source)
      : options_(options), source_(source), live_(1) {}

  const std::vector<LivePrefix>& live() const { return live_; }
  bool done() const { return live_.empty(); }
  std::vector<Hypothesis> take_hypotheses() { return std::move(hypotheses_); }

  // Extends the prefixes by one token; row first_row + i of `scores` [N, vocabulary] belongs to
  // live prefix i.
  template <class T>
  void advance(const Tensor<T>& scores, Index first_row) {
    std::vector<LivePrefix> next;
    for (const Candidate& candidate : best_candidates(scores, first_row)) {
      const LivePrefix& prefix = live_[candidate.prefix];
      LivePrefix extended{prefix.tokens, candidate.log_probability,
                          first_row + static_cast<Index>(candidate.prefix)};
      if (std::ranges::count(options_.eos_token_ids, candidate.token) > 0) {
        add_hypothesis(extended, true);
      } else {
        extended.tokens.push_back(candidate.token);
        next.push_back(std::move(extended));
      }
    }
    live_ = std::move(next);
    if (cannot_improve()) live_.clear();
    if (!done() && options_.on_token && !options_.on_token(source_, live_.front().tokens)) stop();
  }

  // Keeps the remaining prefixes as unfinished hypotheses.
  void stop() {
    for (const LivePrefix& prefix : live_) add_hypothesis(prefix, false);
    live_.clear();
  }

 private:
  template <class T>
  std::vector<Candidate> best_candidates(const Tensor<T>& scores, Index first_row) {
    const Index vocabulary = scores.shape().columns();
    const auto width = static_cast<std::size_t>(options_.beam_width);
    std::vector<Candidate> best;  // best first, at most `width`
    for (std::size_t prefix = 0; prefix < live_.size(); ++prefix) {
      const T* row = scores.data() + (first_row + static_cast<Index>(prefix)) * vocabulary;
      log_probabilities_.assign(row, row + vocabulary);
      process(live_[prefix].tokens);
      for (Index token = 0; token < vocabulary; ++token) {
        const double log_probability = log_probabilities_[static_cast<std::size_t>(token)];
        check(log_probability, token);
        const Candidate candidate{prefix, static_cast<TokenId>(token),
                                  live_[prefix].log_probability + log_probability};
        if (std::isinf(candidate.log_probability) ||
            (best.size() == width && !candidate.better_than(best.back())))
          continue;
        if (best.size() == width) best.pop_back();
        const auto position = std::upper_bound(
            best.begin(), best.end(), candidate,
            [](const Candidate& a, const Candidate& b) { return a.better_than(b); });
        best.insert(position, candidate);
      }
    }
    return best;
  }

  // Changes the log-probabilities of the token after a prefix as the options ask.
  void process(const TokenIds& prefix) {
    const auto exclude = [this](TokenId token) {
      if (token >= 0 && token < std::ssize(log_probabilities_))
        log_probabilities_[static_cast<std::size_t>(token)] =
            -std::numeric_limits<double>::infinity();
    };
    if (options_.process) options_.process(source_, prefix, log_probabilities_);
    if (std::ssize(prefix) < options_.min_len)
      std::ranges::for_each(options_.eos_token_ids, exclude);
    if (options_.no_repeat_ngram_size == 0) return;
    TokenIds whole{options_.bos};
    whole.insert(whole.end(), prefix.begin(), prefix.end());
    for_each_repeating_token(whole, options_.no_repeat_ngram_size, exclude);
  }

  static void check(double log_probability, Index token) {
    // Rounding may leave a probability just above 1.
    constexpr double tolerance = 1e-3;
    if (std::isnan(log_probability))
      fail<NonFiniteError>("beam search", "log-probabilities", str_cat("NaN for token ", token));
    if (log_probability > tolerance)
      fail<ValueError>("beam search", "log-probabilities ≤ 0",
                       str_cat(log_probability, " for token ", token));
  }

  double score(double log_probability, Index length) const {
    return log_probability / std::pow(static_cast<double>(length), options_.length_penalty);
  }

  // Inserts a hypothesis in sorted order, and drops the last one when there are more than n_best.
  void add_hypothesis(const LivePrefix& prefix, bool finished) {
    const Index length = static_cast<Index>(prefix.tokens.size()) + (finished ? 1 : 0);
    const Hypothesis hypothesis{prefix.tokens, prefix.log_probability,
                                score(prefix.log_probability, length), finished};
    const auto position =
        std::upper_bound(hypotheses_.begin(), hypotheses_.end(), hypothesis,
                         [](const Hypothesis& a, const Hypothesis& b) {
                           return a.finished != b.finished ? a.finished : a.score > b.score;
                         });
    hypotheses_.insert(position, hypothesis);
    if (static_cast<Index>(hypotheses_.size()) > options_.n_best) hypotheses_.pop_back();
  }

  // A longer sequence is never more probable, and max_len has the largest length penalty.
  bool cannot_improve() const {
    if (live_.empty()) return true;
    if (static_cast<Index>(hypotheses_.size()) < options_.n_best) return false;
    return hypotheses_.back().score >= score(live_.front().log_probability, options_.max_len);
  }

  const BeamSearchOptions& options_;
  Index source_;
  std::vector<LivePrefix> live_;           // most probable first
  std::vector<Hypothesis> hypotheses_;     // best first
  std::vector<double> log_probabilities_;  // of the token after a prefix
};

void check_options(const BeamSearchOptions& options, Index num_sources) {
  check_at_least("beam search: num_sources", num_sources, Index{0});
  check_at_least("beam search: beam_width", options.beam_width, Index{1});
  check_at_least("beam search: max_len", options.max_len, Index{1});
  check_at_least("beam search: min_len", options.min_len, Index{0});
  check_at_least("beam search: n_best", options.n_best, Index{1});
  check_at_least("beam search: no_repeat_ngram_size", options.no_repeat_ngram_size, Index{0});
  if (options.n_best > options.beam_width)
    fail<ValueError>("beam search: n_best", str_cat("at most beam_width, ", options.beam_width),
                     options.n_best);
  check_finite_non_negative("beam search: length_penalty", options.length_penalty);
}

// The live prefixes of all beams, each after <bos>, and the first row of each beam.
struct Rows {
  Tokens tokens;
  std::vector<Index> sources;
  std::vector<Index> parents;
  std::vector<Index> first_rows;
};

Rows live_rows(const std::vector<Beam>& beams, Index length, TokenId bos) {
  Rows rows;
  for (std::size_t source = 0; source < beams.size(); ++source) {
    rows.first_rows.push_back(static_cast<Index>(rows.sources.size()));
    for (const LivePrefix& prefix : beams[source].live()) {
      rows.sources.push_back(static_cast<Index>(source));
      if (length > 1) rows.parents.push_back(prefix.row);
    }
  }
  rows.tokens = Tokens::full({static_cast<Index>(rows.sources.size()), length}, bos);
  TokenId* token = rows.tokens.data();
  for (const Beam& beam : beams)
    for (const LivePrefix& prefix : beam.live()) {
      std::copy(prefix.tokens.begin(), prefix.tokens.end(), token + 1);
      token += length;
    }
  return rows;
}

}  // namespace

template <class T>
std::vector<std::vector<Hypothesis>> beam_search(
    const std::type_identity_t<NextTokenFunction<T>>& next, Index num_sources,
    const BeamSearchOptions& options) {
  check_function("beam search: next", next);
  check_options(options, num_sources);
  std::vector<Beam> beams;
  for (Index source = 0; source < num_sources; ++source) beams.emplace_back(options, source);
  // The user's functions are called by one thread.
  const Index grain = options.process || options.on_token ? num_sources : 1;
  for (Index length = 1; length <= options.max_len; ++length) {
    const Rows rows = live_rows(beams, length, options.bos);
    if (rows.sources.empty()) break;
    const Tensor<T> scores = next({rows.tokens, rows.sources, rows.parents});
    const Index count = rows.tokens.shape()[0];
    if (scores.rank() != 2 || scores.shape()[0] != count)
      fail<ShapeError>("beam search: next-token function",
                       str_cat("shape [", count, ", vocabulary]"), scores.shape());
    parallel_for(num_sources, grain, [&](Index begin, Index end) {
      for (auto source = static_cast<std::size_t>(begin); source < static_cast<std::size_t>(end);
           ++source)
        beams[source].advance(scores, rows.first_rows[source]);
    });
  }
  std::vector<std::vector<Hypothesis>> hypotheses;
  for (Beam& beam : beams) {
    beam.stop();
    hypotheses.push_back(beam.take_hypotheses());
  }
  return hypotheses;
}

template <class T>
std::vector<Hypothesis> greedy_search(const std::type_identity_t<NextTokenFunction<T>>& next,
                                      Index num_sources, BeamSearchOptions options) {
  options.beam_width = options.n_best = 1;
  std::vector<Hypothesis> best;
  for (auto& hypotheses : beam_search<T>(next, num_sources, options))
    best.push_back(hypotheses.empty() ? Hypothesis{} : std::move(hypotheses.front()));
  return best;
}

template std::vector<std::vector<Hypothesis>> beam_search<float>(const NextTokenFunction<float>&,
                                                                 Index, const BeamSearchOptions&);
template std::vector<std::vector<Hypothesis>> beam_search<double>(const NextTokenFunction<double>&,
                                                                  Index, const BeamSearchOptions&);
template std::vector<Hypothesis> greedy_search<float>(const NextTokenFunction<float>&, Index,
                                                      BeamSearchOptions);
template std::vector<Hypothesis> greedy_search<double>(const NextTokenFunction<double>&, Index,
                                                       BeamSearchOptions);

}  // namespace weft
