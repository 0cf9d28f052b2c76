#include <algorithm>
#include <cmath>
#include <limits>

#include <weft/autograd/error.hpp>
#include <weft/autograd/random.hpp>
#include <weft/train/text/generation/beam_search.hpp>
#include "tests/catch.hpp"

using namespace weft;

namespace {

constexpr Index vocabulary = 5;
constexpr Index max_len = 8;

// A Markov chain for each source: the log-probability of a token depends on the source, the
// position and the token before it.
class MarkovModel {
 public:
  MarkovModel(Index num_sources, std::uint64_t seed)
      : table_(Random(seed).normal_tensor<double>({num_sources, max_len, vocabulary, vocabulary}, 0,
                                                  2)) {
    for (Index row = 0; row < table_.shape().rows(); ++row) {
      double* scores = table_.data() + row * vocabulary;
      double sum = 0;
      for (Index i = 0; i < vocabulary; ++i) sum += std::exp(scores[i]);
      for (Index i = 0; i < vocabulary; ++i) scores[i] -= std::log(sum);
    }
  }

  // The log-probabilities of the token after `length` tokens (<bos> included), the last of which is
  // `token`.
  const double* after(Index source, Index length, TokenId token) const {
    return table_.data() + ((source * max_len + length - 1) * vocabulary + token) * vocabulary;
  }

  // Also checks that the prefixes are consistent with the previous call.
  NextTokenFunction<double> function() const {
    return [this, previous = Tokens()](const Prefixes& prefixes) mutable {
      const Index count = prefixes.tokens.shape()[0], length = prefixes.tokens.shape()[1];
      REQUIRE(static_cast<Index>(prefixes.sources.size()) == count);
      REQUIRE(std::is_sorted(prefixes.sources.begin(), prefixes.sources.end()));
      REQUIRE(static_cast<Index>(prefixes.parents.size()) == (length == 1 ? 0 : count));
      Tensor<double> scores({count, vocabulary});
      for (Index row = 0; row < count; ++row) {
        const auto index = static_cast<std::size_t>(row);
        for (Index t = 0; t + 1 < length; ++t)
          REQUIRE(prefixes.tokens(row, t) == previous(prefixes.parents[index], t));
        const double* next =
            after(prefixes.sources[index], length, prefixes.tokens(row, length - 1));
        std::copy(next, next + vocabulary, scores.data() + row * vocabulary);
      }
      previous = prefixes.tokens;
      return scores;
    };
  }

 private:
  Tensor<double> table_;
};

// All sequences of up to max_len tokens, finished ones first, best first.
std::vector<Hypothesis> exhaustive(const MarkovModel& model, Index source,
                                   const BeamSearchOptions& options) {
  std::vector<Hypothesis> found;
  const auto extend = [&](auto& self, const TokenIds& tokens, double log_probability) -> void {
    const auto length = static_cast<Index>(tokens.size());
    const auto score = [&](double value, Index tokens_in_all) {
      return value / std::pow(static_cast<double>(tokens_in_all), options.length_penalty);
    };
    if (length == options.max_len) {
      found.push_back({tokens, log_probability, score(log_probability, length), false});
      return;
    }
    const double* next =
        model.after(source, length + 1, tokens.empty() ? options.bos : tokens.back());
    for (TokenId token = 0; token < vocabulary; ++token) {
      const double sum = log_probability + next[token];
      if (std::ranges::count(options.eos_token_ids, token) > 0) {
        found.push_back({tokens, sum, score(sum, length + 1), true});
      } else {
        TokenIds longer = tokens;
        longer.push_back(token);
        self(self, longer, sum);
      }
    }
  };
  extend(extend, {}, 0.0);
  std::stable_sort(found.begin(), found.end(), [](const Hypothesis& a, const Hypothesis& b) {
    return a.finished != b.finished ? a.finished : a.score > b.score;
  });
  return found;
}

// The most probable token at each step.
TokenIds greedy(const MarkovModel& model, Index source, const BeamSearchOptions& options) {
  TokenIds tokens;
  TokenId last = options.bos;
  while (static_cast<Index>(tokens.size()) < options.max_len) {
    const double* next = model.after(source, static_cast<Index>(tokens.size()) + 1, last);
    last = static_cast<TokenId>(std::max_element(next, next + vocabulary) - next);
    if (std::ranges::count(options.eos_token_ids, last) > 0) break;
    tokens.push_back(last);
  }
  return tokens;
}

void check_same(const Hypothesis& a, const Hypothesis& b) {
  CHECK(a.tokens == b.tokens);
  CHECK(a.finished == b.finished);
  CHECK(std::abs(a.log_probability - b.log_probability) < 1e-12);
  CHECK(std::abs(a.score - b.score) < 1e-12);
}

}  // namespace

TEST_CASE("beam search: with a large width, equals exhaustive search", "[train]") {
  const Index num_sources = 6;
  const MarkovModel model(num_sources, 11);
  for (double length_penalty : {0.0, 0.75, 2.0}) {
    const BeamSearchOptions options{
        .beam_width = 625, .max_len = 5, .length_penalty = length_penalty, .n_best = 7};
    const auto found = beam_search<double>(model.function(), num_sources, options);
    REQUIRE(static_cast<Index>(found.size()) == num_sources);
    for (Index source = 0; source < num_sources; ++source) {
      const auto expected = exhaustive(model, source, options);
      const auto& hypotheses = found[static_cast<std::size_t>(source)];
      REQUIRE(hypotheses.size() == 7);
      for (std::size_t i = 0; i < 7; ++i) check_same(hypotheses[i], expected[i]);
    }
  }
}

TEST_CASE("beam search: several sources give the same results as each alone", "[train]") {
  const MarkovModel model(9, 12);
  const BeamSearchOptions options{.beam_width = 3, .max_len = 8, .n_best = 2};
  const auto together = beam_search<double>(model.function(), 9, options);
  for (Index source = 0; source < 9; ++source) {
    const auto alone = beam_search<double>(
        [&](const Prefixes& prefixes) {
          const Index count = prefixes.tokens.shape()[0], length = prefixes.tokens.shape()[1];
          Tensor<double> scores({count, vocabulary});
          for (Index row = 0; row < count; ++row) {
            const double* next = model.after(source, length, prefixes.tokens(row, length - 1));
            std::copy(next, next + vocabulary, scores.data() + row * vocabulary);
          }
          return scores;
        },
        1, options);
    const auto& hypotheses = together[static_cast<std::size_t>(source)];
    REQUIRE(hypotheses.size() == alone[0].size());
    for (std::size_t i = 0; i < hypotheses.size(); ++i) check_same(hypotheses[i], alone[0][i]);
  }
}

TEST_CASE("beam search: width 1 is greedy search, for any length penalty", "[train]") {
  const MarkovModel model(20, 13);
  for (double length_penalty : {0.0, 1.5}) {
    const BeamSearchOptions options{
        .beam_width = 1, .max_len = 6, .length_penalty = length_penalty};
    const auto beams = beam_search<double>(model.function(), 20, options);
    const auto greedily = greedy_search<double>(model.function(), 20, options);
    for (Index source = 0; source < 20; ++source) {
      const auto index = static_cast<std::size_t>(source);
      REQUIRE(beams[index].size() == 1);
      check_same(beams[index][0], greedily[index]);
      CHECK(greedily[index].tokens == greedy(model, source, options));
    }
  }
}

TEST_CASE("beam search: ties are broken by the better prefix and the lower token", "[train]") {
  // Tokens 3 and 4 are always equally probable; <eos> ranks third.
  const auto next = [](const Prefixes& prefixes) {
    Tensor<float> scores = Tensor<float>::full({prefixes.tokens.shape()[0], vocabulary},
                                               -std::numeric_limits<float>::infinity());
    for (Index row = 0; row < prefixes.tokens.shape()[0]; ++row) {
      scores(row, 3) = scores(row, 4) = prefixes.tokens.shape()[1] < 3 ? -0.5f : -9.0f;
      scores(row, 2) = -1.0f;
    }
    return scores;
  };
  CHECK(greedy_search(next, 1)[0].tokens == TokenIds{3, 3});
  const auto hypotheses = beam_search(next, 1, {.beam_width = 4, .n_best = 4})[0];
  REQUIRE(hypotheses.size() == 4);
  CHECK(hypotheses[0].tokens.empty());
  CHECK(hypotheses[1].tokens == TokenIds{3, 3});
  CHECK(hypotheses[2].tokens == TokenIds{3, 4});
  CHECK(hypotheses[3].tokens == TokenIds{4, 3});
}

TEST_CASE("beam search: sources that are done are left out of the calls", "[train]") {
  std::vector<Index> rows;
  const auto next = [&](const Prefixes& prefixes) {
    rows.push_back(prefixes.tokens.shape()[0]);
    Tensor<float> scores = Tensor<float>::full({prefixes.tokens.shape()[0], vocabulary}, -9.0f);
    // Source s ends after s tokens.
    for (Index row = 0; row < prefixes.tokens.shape()[0]; ++row)
      scores(row, prefixes.tokens.shape()[1] > prefixes.sources[static_cast<std::size_t>(row)]
                      ? Vocabulary::eos
                      : 4) = 0.0f;
    return scores;
  };
  const auto found = greedy_search(next, 3);
  CHECK(rows == std::vector<Index>{3, 2, 1});
  CHECK(found[2].tokens == TokenIds{4, 4});
  CHECK(found[2].finished);
}

TEST_CASE("beam search: a hypothesis that reaches max_len is not finished", "[train]") {
  const auto next = [](const Prefixes& prefixes) {
    Tensor<float> scores = Tensor<float>::full({prefixes.tokens.shape()[0], vocabulary}, -9.0f);
    for (Index row = 0; row < prefixes.tokens.shape()[0]; ++row) scores(row, 3) = -0.25f;
    return scores;
  };
  const Hypothesis found = greedy_search(next, 1, {.max_len = 4, .length_penalty = 1.0})[0];
  CHECK(found.tokens == TokenIds{3, 3, 3, 3});
  CHECK_FALSE(found.finished);
  CHECK(found.log_probability == -1.0);
  CHECK(found.score == -0.25);
}

TEST_CASE("beam search: ends when no longer sequence can be better", "[train]") {
  // After <bos>, <eos> has the log-probability -1 and token 3 has -1.2; what follows is certain.
  int calls = 0;
  const auto next = [&](const Prefixes& prefixes) {
    ++calls;
    const Index length = prefixes.tokens.shape()[1];
    Tensor<float> scores = Tensor<float>::full({prefixes.tokens.shape()[0], vocabulary},
                                               -std::numeric_limits<float>::infinity());
    for (Index row = 0; row < prefixes.tokens.shape()[0]; ++row) {
      if (length == 1) scores(row, 3) = -1.2f;
      if (length == 1) scores(row, Vocabulary::eos) = -1.0f;
      if (length > 1) scores(row, length < 4 ? 3 : Vocabulary::eos) = 0.0f;
    }
    return scores;
  };
  // -1.2 / 4 is better than -1 / 1, but -1.2 is not.
  CHECK(beam_search(next, 1, {.beam_width = 2, .max_len = 8, .length_penalty = 1.0})[0][0].tokens ==
        TokenIds{3, 3, 3});
  CHECK(calls == 4);
  calls = 0;
  CHECK(beam_search(next, 1, {.beam_width = 2, .max_len = 8, .length_penalty = 0.0})[0][0]
            .tokens.empty());
  CHECK(calls == 1);
  // Two are asked for: the second one is longer.
  const auto two =
      beam_search(next, 1, {.beam_width = 2, .max_len = 8, .length_penalty = 0.0, .n_best = 2})[0];
  REQUIRE(two.size() == 2);
  CHECK(two[1].tokens == TokenIds{3, 3, 3});
  CHECK(two[1].finished);
}

TEST_CASE("beam search: what is impossible is no hypothesis", "[train]") {
  const auto next = [](const Prefixes& prefixes) {
    Tensor<float> scores = Tensor<float>::full({prefixes.tokens.shape()[0], vocabulary},
                                               -std::numeric_limits<float>::infinity());
    for (Index row = 0; row < prefixes.tokens.shape()[0]; ++row)
      scores(row, Vocabulary::eos) = 0.0f;
    return scores;
  };
  CHECK(beam_search(next, 1, {.beam_width = 3, .n_best = 3})[0].size() == 1);
}

TEST_CASE("beam search: rounding may leave a probability just above 1", "[train]") {
  const auto next = [](const Prefixes& prefixes) {
    return Tensor<float>::full({prefixes.tokens.shape()[0], vocabulary}, 1e-4f);
  };
  CHECK(beam_search(next, 1, {.max_len = 1}).size() == 1);
}

TEST_CASE("beam search: several tokens may finish a hypothesis", "[train]") {
  const MarkovModel model(6, 17);
  for (const TokenIds& ends : {TokenIds{}, TokenIds{3}, TokenIds{2, 4}, TokenIds{4, 9}}) {
    const BeamSearchOptions options{
        .beam_width = 625, .max_len = 4, .eos_token_ids = ends, .n_best = 7};
    const auto found = beam_search<double>(model.function(), 6, options);
    for (Index source = 0; source < 6; ++source) {
      const auto expected = exhaustive(model, source, options);
      for (std::size_t i = 0; i < 7; ++i)
        check_same(found[static_cast<std::size_t>(source)][i], expected[i]);
    }
  }
}

TEST_CASE("beam search: no <eos> before the minimum length", "[train]") {
  const MarkovModel model(6, 14);
  for (const Index min_len : {0, 1, 3, 4}) {
    const BeamSearchOptions options{
        .beam_width = 625, .max_len = 5, .min_len = min_len, .n_best = 7};
    const auto found = beam_search<double>(model.function(), 6, options);
    for (Index source = 0; source < 6; ++source) {
      auto expected = exhaustive(model, source, options);
      std::erase_if(expected, [&](const Hypothesis& h) {
        return h.finished && std::ssize(h.tokens) < min_len;
      });
      for (std::size_t i = 0; i < 7; ++i)
        check_same(found[static_cast<std::size_t>(source)][i], expected[i]);
    }
  }
}

TEST_CASE("beam search: no sequence of tokens is repeated", "[train]") {
  const MarkovModel model(6, 15);
  for (const Index size : {1, 2, 3}) {
    const BeamSearchOptions options{
        .beam_width = 625, .max_len = 5, .n_best = 7, .no_repeat_ngram_size = size};
    const auto repeats = [&](const Hypothesis& hypothesis) {
      TokenIds tokens = hypothesis.tokens;
      tokens.insert(tokens.begin(), options.bos);
      if (hypothesis.finished) tokens.push_back(Vocabulary::eos);
      for (auto a = tokens.begin(); tokens.end() - a > size; ++a)
        if (std::search(a + 1, tokens.end(), a, a + size) != tokens.end()) return true;
      return false;
    };
    const auto found = beam_search<double>(model.function(), 6, options);
    for (Index source = 0; source < 6; ++source) {
      auto expected = exhaustive(model, source, options);
      std::erase_if(expected, repeats);
      for (std::size_t i = 0; i < 7; ++i)
        check_same(found[static_cast<std::size_t>(source)][i], expected[i]);
    }
  }
}

TEST_CASE("beam search: a function may change the log-probabilities", "[train]") {
  const MarkovModel model(4, 16);
  BeamSearchOptions options{.beam_width = 625, .max_len = 4, .n_best = 5};
  // Source 2 has no token 3 after token 4.
  const auto is_excluded = [](Index source, const TokenIds& tokens) {
    const TokenIds excluded{4, 3};
    return source == 2 && std::search(tokens.begin(), tokens.end(), excluded.begin(),
                                      excluded.end()) != tokens.end();
  };
  options.process = [](Index source, std::span<const TokenId> prefix, std::span<double> scores) {
    if (source == 2 && !prefix.empty() && prefix.back() == 4)
      scores[3] = -std::numeric_limits<double>::infinity();
  };
  const auto found = beam_search<double>(model.function(), 4, options);
  for (Index source = 0; source < 4; ++source) {
    auto expected = exhaustive(model, source, options);
    std::erase_if(expected, [&](const Hypothesis& h) { return is_excluded(source, h.tokens); });
    for (std::size_t i = 0; i < 5; ++i)
      check_same(found[static_cast<std::size_t>(source)][i], expected[i]);
  }
}

TEST_CASE("beam search: on_token sees the best prefix of each step and may end a search",
          "[train]") {
  const auto next = [](const Prefixes& prefixes) {
    Tensor<float> scores = Tensor<float>::full({prefixes.tokens.shape()[0], vocabulary}, -9.0f);
    for (Index row = 0; row < prefixes.tokens.shape()[0]; ++row)
      scores(row, prefixes.sources[static_cast<std::size_t>(row)] + 3) = 0.0f;
    return scores;
  };
  std::vector<TokenIds> seen(2);
  const auto found = beam_search(
      next, 2,
      {.beam_width = 2, .max_len = 4, .on_token = [&](Index source, std::span<const TokenId> best) {
         seen[static_cast<std::size_t>(source)].assign(best.begin(), best.end());
         return source == 1 || best.size() < 2;
       }});
  CHECK(seen[0] == TokenIds{3, 3});
  CHECK(seen[1] == TokenIds{4, 4, 4, 4});
  CHECK(found[0][0].tokens == TokenIds{3, 3});
  CHECK_FALSE(found[0][0].finished);
  CHECK(found[1][0].tokens == TokenIds{4, 4, 4, 4});
}

TEST_CASE("beam search: no sources give no hypotheses", "[train]") {
  CHECK(beam_search([](const Prefixes&) { return Tensor<float>(); }, 0).empty());
}

TEST_CASE("beam search: invalid options and scores throw", "[train]") {
  const auto next = [](float score) {
    return [score](const Prefixes& prefixes) {
      return Tensor<float>::full({prefixes.tokens.shape()[0], vocabulary}, score);
    };
  };
  CHECK_THROWS_AS(beam_search(next(-1), 1, {.beam_width = 0}), ValueError);
  CHECK_THROWS_AS(beam_search(next(-1), 1, {.max_len = 0}), ValueError);
  CHECK_THROWS_AS(beam_search(next(-1), 1, {.min_len = -1}), ValueError);
  CHECK_THROWS_AS(beam_search(next(-1), 1, {.no_repeat_ngram_size = -1}), ValueError);
  CHECK_THROWS_AS(beam_search(next(-1), -1), ValueError);
  CHECK_THROWS_AS(beam_search(next(-1), 1, {.length_penalty = -1}), ValueError);
  CHECK_THROWS_WITH(beam_search(next(-1), 1, {.beam_width = 2, .n_best = 3}),
                    "beam search: n_best: expected at most beam_width, 2, got 3");
  CHECK_THROWS_WITH(beam_search(NextTokenFunction<float>(), 1),
                    "beam search: next: expected a function, got none");
  CHECK_THROWS_WITH(greedy_search(NextTokenFunction<float>(), 0),
                    "beam search: next: expected a function, got none");
  CHECK_THROWS_WITH(beam_search(next(2), 1),
                    "beam search: expected log-probabilities ≤ 0, got 2 for token 0");
  CHECK_THROWS_AS(beam_search(next(std::nanf("")), 1), NonFiniteError);
  CHECK_THROWS_AS(beam_search(
                      [](const Prefixes&) {
                        return Tensor<float>({4, 2});
                      },
                      1),
                  ShapeError);
}
