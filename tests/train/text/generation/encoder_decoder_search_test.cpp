#include <cmath>
#include <limits>

#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/autograd/ops/softmax.hpp>
#include <weft/train/losses.hpp>
#include <weft/train/text/generation/encoder_decoder_search.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

namespace weft {
namespace {

template <class T>
EncoderDecoder<T> small_model(
    const std::optional<RelativePositionBiasOptions>& position_bias = {}) {
  Random random(2);
  return {{.source_vocabulary_size = 9,
           .target_vocabulary_size = 7,
           .max_len = 5,
           .transformer = {.num_blocks = 2,
                           .num_hiddens = 8,
                           .ffn_num_hiddens = 16,
                           .num_heads = 2,
                           .position_bias = position_bias}},
          random};
}

const std::vector<TokenIds> sources{{4, 5, 6}, {8}, {7, 7, 7, 7, 7}};

}  // namespace

TEMPLATE_TEST_CASE("encoder-decoder search: outputs have at most max_len tokens", "[train]", float,
                   double) {
  const auto model = small_model<TestType>();
  const auto outputs = beam_search(model, sources, {.beam_width = 3, .n_best = 2});
  REQUIRE(outputs.size() == 3);
  for (const auto& hypotheses : outputs) {
    REQUIRE(hypotheses.size() == 2);
    CHECK(hypotheses[0].score >= hypotheses[1].score);
    CHECK(hypotheses.front().tokens.size() <= 5);
  }
  for (const Hypothesis& hypothesis : greedy_search(model, sources, {.max_len = 2}))
    CHECK(hypothesis.tokens.size() <= 2);
}

TEST_CASE("encoder-decoder search: a source has the same hypotheses in a batch as alone",
          "[train]") {
  const auto model = small_model<double>();
  const auto together = beam_search(model, sources, {.beam_width = 3});
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto alone = beam_search(model, {&sources[i], 1}, {.beam_width = 3});
    REQUIRE(alone.size() == 1);
    CHECK(alone[0][0].tokens == together[i][0].tokens);
    CHECK(std::abs(alone[0][0].log_probability - together[i][0].log_probability) < 1e-12);
  }
  CHECK(beam_search(model, {}).empty());
}

TEST_CASE("encoder-decoder search: functions of the options get the index of a source", "[train]") {
  const auto model = small_model<double>();
  const std::vector<TokenIds> many(30, sources[0]);
  std::vector<TokenIds> seen(30);
  const auto outputs = beam_search(
      model, many,
      {.beam_width = 3,
       .process =
           [](Index source, std::span<const TokenId>, std::span<double> log_probabilities) {
             for (Index token = 0; token < 7; ++token)
               if (token != source % 7 || token == Vocabulary::eos)
                 log_probabilities[static_cast<std::size_t>(token)] =
                     -std::numeric_limits<double>::infinity();
           },
       .on_token =
           [&](Index source, std::span<const TokenId> prefix) {
             seen[static_cast<std::size_t>(source)].assign(prefix.begin(), prefix.end());
             return true;
           }});
  for (std::size_t source = 0; source < 30; ++source) {
    if (source % 7 == Vocabulary::eos) continue;
    CHECK(outputs[source][0].tokens == TokenIds(5, static_cast<TokenId>(source % 7)));
    CHECK(seen[source] == outputs[source][0].tokens);
  }
}

TEST_CASE("encoder-decoder search: hypotheses have the probabilities that the model gives them",
          "[train]") {
  using Bias = RelativePositionBiasOptions;
  auto model = small_model<double>(
      GENERATE(std::optional<Bias>(), std::optional<Bias>({.num_buckets = 6, .max_distance = 4}),
               std::optional<Bias>({.alibi = true})));
  // Hypotheses of several tokens: the end is improbable, and inputs matter more than at the start.
  for (const auto& [name, parameter] : named_parameters(model))
    for (double& value : parameter->values()) value *= 3.0;
  model.output->bias->values()[Vocabulary::eos] = -4.0;
  std::vector<TokenIds> many;
  for (TokenId i = 0; i < 50; ++i) many.push_back({4 + i % 5, 4 + i % 3, 4 + i % 4});
  const Index width = GENERATE(1, 4);
  const auto all = beam_search(model, many, {.beam_width = width, .n_best = width});
  auto tape = Tape<double>::inference();
  double worst = 0.0;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < many.size(); ++i) {
    const PaddedTokens padded = pad_sequences({&many[i], 1});
    for (const Hypothesis& hypothesis : all[i]) {
      TokenIds labels = hypothesis.tokens;
      if (hypothesis.finished) labels.push_back(Vocabulary::eos);
      TokenIds target{Vocabulary::bos};
      target.insert(target.end(), labels.begin(), labels.end() - 1);
      const Tensor<double> log_probabilities =
          log_softmax(
              model(tape, padded.tokens, padded.valid_lens, pad_sequences({&target, 1}).tokens))
              .value();
      double sum = 0.0;
      for (Index t = 0; t < std::ssize(labels); ++t)
        sum += log_probabilities(0, t, labels[static_cast<std::size_t>(t)]);
      worst = std::max(worst, std::abs(sum - hypothesis.log_probability));
      longest = std::max(longest, labels.size());
    }
  }
  CHECK(worst < 1e-11);
  CHECK(longest >= 4);
}

TEST_CASE("encoder-decoder search: greedy search takes the most probable token of each step",
          "[train]") {
  const auto model = small_model<double>();
  Tape<double> tape = Tape<double>::inference();
  for (const TokenIds& source : sources) {
    const PaddedTokens padded = pad_sequences({&source, 1});
    TokenIds expected{Vocabulary::bos};
    while (std::ssize(expected) <= model.options.max_len) {
      const Var<double> logits =
          model(tape, padded.tokens, padded.valid_lens, pad_sequences({&expected, 1}).tokens);
      const double* last = logits.value().data() + logits.size() - 7;
      const auto best = static_cast<TokenId>(std::max_element(last, last + 7) - last);
      if (best == Vocabulary::eos) break;
      expected.push_back(best);
    }
    expected.erase(expected.begin());
    CHECK(greedy_search(model, {&source, 1}).front().tokens == expected);
  }
}

TEST_CASE("encoder-decoder search: the loss of a batch is that of its labels", "[train]") {
  const auto model = small_model<double>();
  PairBatches batches({{{4, 5, 6}, {4, 5}}, {{8}, {6}}}, {.shuffle = false});
  const PairBatch batch = batches.batch(0, 0);
  Tape<double> tape;
  const Var<double> logits =
      model(tape, batch.source.tokens, batch.source.valid_lens, batch.target.tokens);
  for (const double smoothing : {0.0, 0.1})
    CHECK(batch_loss(model, tape, batch, {.label_smoothing = smoothing}).item() ==
          cross_entropy(logits, batch.labels, {.label_smoothing = smoothing}).item());
}

TEST_CASE("encoder-decoder search: options outside their ranges throw", "[train]") {
  const auto model = small_model<float>();
  CHECK_THROWS_AS(beam_search(model, sources, {.beam_width = 0}), ValueError);
  CHECK_THROWS_AS(beam_search(model, std::vector<TokenIds>{{9}}), ValueError);
  CHECK_THROWS_AS(beam_search(model, std::vector<TokenIds>{{4, 4, 4, 4, 4, 4, 4}}), ValueError);
}

}  // namespace weft
