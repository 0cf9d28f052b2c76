#include <weft/autograd/gradcheck.hpp>
#include <weft/autograd/random.hpp>
#include <weft/train/evaluation.hpp>
#include <weft/train/losses.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/text/generation/encoder_decoder_search.hpp>
#include "examples/pronounce/evaluation.hpp"
#include "examples/pronounce/model.hpp"
#include "tests/catch.hpp"

using namespace weft;
using namespace weft::pronounce;

namespace {

const std::vector<Entry> entries = {{"to", {{"T", "UW"}, {"T", "AH"}}},
                                    {"toe", {{"T", "OW"}}},
                                    {"note", {{"N", "OW", "T"}}},
                                    {"one", {{"W", "AH", "N"}}}};
const Language language = Language::of(entries);

Configuration tiny_configuration() {
  Configuration configuration = Configuration::quick();
  configuration.width = 16;
  configuration.layers = 1;
  configuration.heads = 2;
  configuration.dropout = 0.0;
  return configuration;
}

}  // namespace

TEST_CASE("pronouncer: logits do not depend on padding or on later phones", "[examples]") {
  Random random(3);
  const Pronouncer<float> model(tiny_configuration(), language, random);
  const std::vector<SequencePair> pairs = language.pairs(entries);
  const auto logits_of = [&](std::vector<SequencePair> selected) {
    Tape tape = Tape<float>::inference();
    const PairBatch batch = PairBatches(std::move(selected), {.shuffle = false}).batch(0, 0);
    return model(tape, batch.source.tokens, batch.source.valid_lens, batch.target.tokens).value();
  };
  const Tensor<float> alone = logits_of({pairs[2]});               // toe → T OW
  const Tensor<float> together = logits_of({pairs[2], pairs[3]});  // padded to a longer word
  REQUIRE(together.shape() == Shape{2, 4, language.phones.size()});
  for (Index t = 0; t < 3; ++t)
    for (Index phone = 0; phone < language.phones.size(); ++phone)
      CHECK(std::abs(alone(0, t, phone) - together(0, t, phone)) < 1e-5f);
}

TEST_CASE("pronouncer: the encoder and the decoder return their attention weights", "[examples]") {
  Random random(3);
  const Pronouncer<float> model(tiny_configuration(), language, random);
  Tape<float> tape({.recording = false, .keep_attention_weights = true});
  PairBatches batches({language.pairs(entries)[3]});  // note → N OW T
  const PairBatch batch = batches.batch(0, 0);
  const Var memory = model.encode(tape, batch.source.tokens, batch.source.valid_lens);
  model.decode(batch.target.tokens, memory, batch.source.valid_lens);
  const std::vector<Tensor<float>> weights = tape.take_attention_weights();
  REQUIRE(weights.size() == 3);
  for (const Tensor<float>& each : weights) CHECK(each.shape() == Shape{1, 2, 4, 4});
}

TEST_CASE("pronouncer: overfits four words, and greedy and beam search find them", "[examples]") {
  Random random(3);
  Pronouncer<float> model(tiny_configuration(), language, random);
  AdamW<float> optimizer(model, {.lr = 1e-2});
  PairBatches batches(language.pairs(entries));
  Tape<float> tape({.training = true});
  for (int step = 0; step < 120; ++step) {
    tape.backward(batch_loss(model, tape, batches.batch(step, 0)));
    optimizer.step();
  }
  const auto model_loss = [&](Tape<float>& evaluation, const PairBatch& part) {
    return batch_loss(model, evaluation, part);
  };
  CHECK(mean_loss(batches, model_loss) < 0.25);  // "to" has two pronunciations: 0.116 at best
  CHECK(error_rates(model, language, entries).word_error_rate() == 0.0);
  CHECK(error_rates(model, language, entries, {.beam_width = 3}).word_error_rate() == 0.0);

  const std::vector<TokenIds> words{language.encode("to"), language.encode("one")};
  const auto hypotheses = beam_search(model, words, {.beam_width = 4, .n_best = 2});
  REQUIRE(hypotheses.size() == 2);
  REQUIRE(hypotheses[0].size() == 2);
  CHECK(hypotheses[0][0].log_probability >= hypotheses[0][1].log_probability);
  CHECK(language.decode(hypotheses[1][0].tokens) == Phones{"W", "AH", "N"});

  std::vector<Entry> with_unknown_letters = entries;
  with_unknown_letters.push_back({"xu", {{"Z", "UW"}}});
  CHECK(error_rates(model, language, with_unknown_letters).word_error_rate() == 20.0);
}
