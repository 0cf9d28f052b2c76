#include <weft/autograd/error.hpp>
#include <weft/train/data/labelled.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;

TEST_CASE("labelled batches: padded sequences with their labels", "[train]") {
  LabelledBatches batches({{{5, 6, 7}, 1}, {{4}, 0}, {{8, 9}, 2}},
                          {.batch_size = 3, .shuffle = false});
  const LabelledBatch batch = batches.batch(0, 0);
  REQUIRE(num_examples(batch) == 3);
  CHECK(batch.sequences.tokens.shape() == Shape{3, 3});
  CHECK(batch.examples == std::vector<Index>{1, 2, 0});  // by length
  CHECK(batch.labels(0) == 0);
  CHECK(batch.labels(2) == 1);
  CHECK(batch.sequences.tokens(1, 1) == 9);
  CHECK(batch.sequences.tokens(0, 1) == Vocabulary::pad);
  CHECK(batch.sequences.valid_lens.lengths()(1) == 2);
  const LabelledBatch part = part_of(batch, 0, 2);
  CHECK(part.sequences.tokens.shape() == Shape{2, 2});
  CHECK(part.labels(1) == 2);
  CHECK(part.examples == std::vector<Index>{1, 2});
  const LabelledBatch last = part_of(batch, 2, 3);
  CHECK(last.sequences.tokens.shape() == Shape{1, 3});
  CHECK(last.labels(0) == 1);
  CHECK(last.examples == std::vector<Index>{0});
}

TEST_CASE("labelled batches: the fingerprint changes with sequences and labels", "[train]") {
  const auto fingerprint = [](std::vector<LabelledSequence> examples,
                              const BatchOptions& options = {}) {
    return LabelledBatches(std::move(examples), options).fingerprint();
  };
  const std::uint64_t own = fingerprint({{{5, 6}, 1}, {{4}, 0}});
  CHECK(fingerprint({{{5, 6}, 1}, {{4}, 0}}) == own);
  CHECK(fingerprint({{{5, 6}, 1}, {{4}, 1}}) != own);
  CHECK(fingerprint({{{5, 6}, 1}, {{3}, 0}}) != own);
  CHECK(fingerprint({{{5}, 1}, {{6, 4}, 0}}) != own);
  CHECK(fingerprint({{{5, 6}, 1}, {{4}, 0}}, {.seed = 3}) != own);
}

TEST_CASE("labelled batches: empty sequences and contradictions are refused", "[train]") {
  CHECK(message_of<ValueError>([] {
          LabelledBatches({{{5}, 1}, {{}, 0}});
        }) ==
        "labelled sequences: expected at least one token in each, got no tokens in sequence 1");
  CHECK_THROWS_AS(LabelledBatches({}), ValueError);
  LabelledBatch batch = LabelledBatches({{{5}, 1}, {{6}, 0}}).batch(0, 0);
  const LabelledBatch good = batch;
  batch.labels = Tokens({3});
  CHECK_THROWS_AS(num_examples(batch), ShapeError);
  batch.examples.clear();
  CHECK(message_of<ShapeError>([&] { num_examples(batch); }) ==
        "batch: sequences: expected tokens [3, time], got shape [2, 1]");
  batch = good;
  batch.examples.push_back(2);
  CHECK_THROWS_AS(num_examples(batch), ShapeError);
}
