#include <limits>

#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/train/data/packed.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

LearnedText text(const TokenIds& tokens, Index read = 0) {
  LearnedText result{tokens, std::vector<bool>(tokens.size(), true)};
  for (Index i = 0; i < read; ++i) result.learned[static_cast<std::size_t>(i)] = false;
  return result;
}

const std::vector<LearnedText> texts = {text({1, 2, 3}), text({4, 5, 6, 7, 8}, 3), text({9, 10}),
                                        text({11, 12, 13, 14})};

}  // namespace

TEST_CASE("packed: texts fill rows, the longest first", "[train]") {
  PackedBatches source(texts, {.length = 6, .batch_size = 4, .shuffle = false});
  REQUIRE(source.num_batches() == 1);
  const PackedBatch batch = source.batch(0, 0);
  CHECK(same(batch.inputs, Tokens({2, 6}, {4, 5, 6, 7, 1, 2, 11, 12, 13, 9, 0, 0})));
  constexpr TokenId none = -100;
  CHECK(same(batch.targets, Tokens({2, 6}, {none, none, 7, 8, 2, 3, 12, 13, 14, 10, none, none})));
  CHECK(num_labels(batch) == 8);
  CHECK(num_examples(batch) == 2);
  CHECK(batch.mask.causal);
  const std::string first_row =
      "111100"
      "111100"
      "111100"
      "111100"
      "000011"
      "000011";
  for (std::size_t i = 0; i < first_row.size(); ++i)
    CHECK(batch.mask.allowed.data()[i] == (first_row[i] == '1'));
  CHECK(same(batch.mask.positions, Tokens({2, 6}, {0, 1, 2, 3, 0, 1, 0, 1, 2, 0, 0, 0})));
  const PackedBatch part = part_of(batch, 1, 2);
  CHECK(same(part.inputs, Tokens({1, 6}, {11, 12, 13, 9, 0, 0})));
  CHECK(num_labels(part) == 4);
  CHECK(part.mask.allowed.shape() == Shape{1, 6, 6});
  CHECK(same(part.mask.positions, Tokens({1, 6}, {0, 1, 2, 0, 0, 0})));
}

TEST_CASE("packed: a text's loss does not depend on the others in its row", "[train]") {
  // Learned positions, of which there are as many as the longest text has; rotary ones; ALiBi; and
  // a window.
  const GptOptions learned{
      .vocabulary_size = 16, .max_len = 4, .num_hiddens = 8, .num_heads = 2, .num_blocks = 2};
  GptOptions rotary = learned, alibi = learned, window = learned;
  rotary.rotary = RotaryOptions{};
  alibi.alibi = true;
  window.window = 2;
  const GptOptions options = GENERATE_COPY(learned, rotary, alibi, window);
  Random random(1);
  Gpt<double> model(options, random);
  if (model.positions)
    model.positions->weight.set_value(random.normal_tensor<double>({4, 8}, 0.0, 1.0));
  const auto sum = [&](const std::vector<LearnedText>& of, Index length) {
    PackedBatches source(of, {.length = length, .batch_size = 8});
    double total = 0.0;
    for (Index i = 0; i < source.num_batches(); ++i) {
      const PackedBatch batch = source.batch(0, i);
      Tape<double> tape = Tape<double>::inference();
      const double loss =
          cross_entropy(model(tape, batch.inputs, batch.mask), batch.targets).item();
      REQUIRE(model.loss(tape, batch.inputs, batch.targets, batch.mask).item() == Approx(loss));
      total += loss * static_cast<double>(num_labels(batch));
    }
    return total;
  };
  double alone = 0.0;
  for (const LearnedText& one : texts) alone += sum({one}, std::ssize(one.tokens) - 1);
  for (const Index length : {4, 5, 6, 10, 40}) CHECK(sum(texts, length) == Approx(alone));
}

TEST_CASE("packed: each text is in every epoch once, in an order of its own", "[train]") {
  std::vector<LearnedText> many;
  for (TokenId i = 0; i < 50; ++i) many.push_back(text({i, i, i}));
  PackedBatches source(many, {.length = 4, .batch_size = 3, .seed = 1});
  CHECK(source.num_batches() == 9);
  std::vector<Tokens> firsts;
  for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
    std::vector<int> seen(50, 0);
    for (Index i = 0; i < source.num_batches(); ++i) {
      const PackedBatch batch = source.batch(epoch, i);
      if (i == 0) firsts.push_back(batch.inputs);
      for (Index row = 0; row < batch.inputs.shape()[0]; ++row)
        for (const Index at : {0, 2})
          if (batch.targets(row, at) >= 0) ++seen[static_cast<std::size_t>(batch.inputs(row, at))];
    }
    CHECK(std::ranges::count(seen, 1) == 50);
  }
  CHECK_FALSE(same(firsts[0], firsts[1]));
}

TEST_CASE("packed: other data have another fingerprint", "[train]") {
  const auto fingerprint = [](std::vector<LearnedText> of, const PackedOptions& options) {
    return PackedBatches(std::move(of), options).fingerprint();
  };
  const auto own = fingerprint(texts, {.length = 6});
  CHECK(fingerprint(texts, {.length = 6}) == own);
  CHECK(fingerprint(texts, {.length = 7}) != own);
  CHECK(fingerprint(texts, {.length = 6, .seed = 1}) != own);
  auto changed = texts;
  changed[1].learned[1] = true;
  CHECK(fingerprint(changed, {.length = 6}) != own);
}

TEST_CASE("packed: wrong texts are named", "[train]") {
  const auto error = [](std::vector<LearnedText> of, Index length = 3) {
    return message_of<ValueError>([&] { PackedBatches(std::move(of), {.length = length}); });
  };
  CHECK(error({}) == "PackedBatches: texts: expected at least one, got none");
  CHECK(error({text({1})}, std::numeric_limits<Index>::max()) ==
        "PackedBatches: text 1: expected 2 to 9223372036854775808 tokens, got 1");
  CHECK(error({text({1, 2}), text({1})}) == "PackedBatches: text 2: expected 2 to 4 tokens, got 1");
  CHECK(error({text({1, 2, 3, 4, 5})}) == "PackedBatches: text 1: expected 2 to 4 tokens, got 5");
  CHECK(
      error({text({1, 2, 3}, 3)}) ==
      "PackedBatches: text 1: expected at least one learned token after the first token, got none");
  CHECK(
      error({{{1, 2, 3}, {true, false, false}}}) ==
      "PackedBatches: text 1: expected at least one learned token after the first token, got none");
  CHECK(error({{{1, 2}, {true}}}) ==
        "PackedBatches: text 1: expected a value of `learned` for each token, got 1 for 2 tokens");
  CHECK_THROWS_AS(PackedBatches(texts, {.length = 0}), ValueError);
  CHECK_THROWS_AS(PackedBatches(texts, {.batch_size = 0}), ValueError);
}
