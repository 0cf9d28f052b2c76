#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/train/data/pairs.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

const TokenId ignored = CrossEntropyOptions{}.ignore_index;

std::vector<TokenId> values(const Tokens& tokens) { return {tokens.begin(), tokens.end()}; }

// Examples 2, 1 and 0, of 1, 1 and 3 source tokens and of 1, 3 and 2 labels.
PairBatch three_examples() {
  PairBatches batches(std::vector<SequencePair>{{{10, 11, 12}, {20}}, {{13}, {21, 22}}, {{14}, {}}},
                      {.batch_size = 3, .shuffle = false});
  return batches.batch(0, 0);
}

std::string shape_error(const PairBatch& batch) {
  return message_of<ShapeError>([&] { part_of(batch, 0, 1); });
}

}  // namespace

TEST_CASE("batches: a part is padded to the longest of its examples", "[train]") {
  const PairBatch batch = three_examples();
  REQUIRE(batch.examples == std::vector<Index>{2, 1, 0});
  const PairBatch part = part_of(batch, 0, 2);
  CHECK(part.examples == std::vector<Index>{2, 1});
  CHECK(part.source.tokens.shape() == Shape{2, 1});
  CHECK(part.target.tokens.shape() == Shape{2, 3});
  CHECK(values(part.labels) ==
        std::vector<TokenId>{Vocabulary::eos, ignored, ignored, 21, 22, Vocabulary::eos});
  CHECK(part.num_labels == 4);
  CHECK(part_of(batch, 2, 3).num_labels == 2);
}

TEST_CASE("batches: a part of a classifier's batch has the labels of its examples", "[train]") {
  PairBatch batch = three_examples();
  for (const Shape& shape : {Shape{3}, Shape{3, 1}}) {
    batch.labels = Tokens(shape, {7, ignored, 9});
    const PairBatch part = part_of(batch, 1, 3);
    CHECK(part.labels.shape() == shape.with(0, 2));
    CHECK(values(part.labels) == std::vector<TokenId>{ignored, 9});
    CHECK(part.num_labels == 1);
    CHECK(part.target.tokens.shape() == Shape{2, 3});
  }
  // Wider than the targets, and of two axes for each example.
  batch.labels = Tokens({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(values(part_of(batch, 1, 2).labels) == std::vector<TokenId>{4, 5, 6, 7});
  batch.labels = batch.labels.reshaped({3, 2, 2});
  CHECK(part_of(batch, 2, 3).labels.shape() == Shape{1, 2, 2});
  CHECK(values(part_of(batch, 2, 3).labels) == std::vector<TokenId>{8, 9, 10, 11});
}

TEST_CASE("batches: examples without indices have parts too", "[train]") {
  PairBatch batch = three_examples();
  const PairBatch expected = part_of(batch, 0, 2);
  batch.examples.clear();
  CHECK(num_examples(batch) == 3);
  const PairBatch part = part_of(batch, 0, 2);
  CHECK(part.examples.empty());
  CHECK(values(part.target.tokens) == values(expected.target.tokens));
  CHECK(values(part.labels) == values(expected.labels));
}

TEST_CASE("batches: without lengths, every token counts", "[train]") {
  PairBatch batch = three_examples();
  batch.source.valid_lens = {};
  batch.target.valid_lens = {};
  const PairBatch part = part_of(batch, 0, 1);
  CHECK(part.source.tokens.shape() == Shape{1, 3});
  CHECK(values(part.labels) == std::vector<TokenId>{Vocabulary::eos, ignored, ignored});
}

TEST_CASE("batches: a part outside of the batch is refused", "[train]") {
  const PairBatch batch = three_examples();
  for (const auto& [first, last] : {std::pair<Index, Index>{-1, 2}, {2, 1}, {0, 4}, {4, 5}})
    CHECK(message_of<ValueError>([&, begin = first, end = last] { part_of(batch, begin, end); }) ==
          str_cat("part of a batch: expected 0 ≤ first ≤ last ≤ 3, got first ", first, " and last ",
                  last));
  CHECK(num_examples(part_of(batch, 1, 1)) == 0);
}

TEST_CASE("batches: fields that contradict each other are refused by their name", "[train]") {
  const PairBatch batch = three_examples();
  REQUIRE(shape_error(batch).empty());
  PairBatch bad = batch;
  bad.source = {};
  CHECK(
      shape_error(bad) ==
      "batch: source: expected tokens [batch, time], or [batch, 0] without sources, got shape [0]");
  bad = batch;
  bad.target.tokens = Tokens({2, 3});
  CHECK(shape_error(bad) == "batch: target: expected tokens [3, time], got shape [2, 3]");
  bad = batch;
  bad.labels = Tokens({2});
  CHECK(shape_error(bad) == "batch: labels: expected shape [3, …], got [2]");
  bad.labels = Tokens(Shape{}, {1});
  CHECK(shape_error(bad) == "batch: labels: expected shape [3, …], got []");
  bad = batch;
  bad.examples = {1, 2};
  CHECK(shape_error(bad) == "batch: examples: expected 3 indices or an empty list, got 2");
  bad = batch;
  bad.source.valid_lens = ValidLens{1, 1};
  CHECK(shape_error(bad) == "batch: source.valid_lens: expected shape [3], got [2]");
  bad.source.valid_lens = ValidLens(Tensor<std::int32_t>({3, 3}));
  CHECK(shape_error(bad) == "batch: source.valid_lens: expected shape [3], got [3, 3]");
}

TEST_CASE("batches: lengths outside of the tokens are refused", "[train]") {
  for (const std::int32_t length : {-1, 4, 1 << 30}) {
    PairBatch batch = three_examples();
    batch.target.valid_lens = ValidLens{1, 3, length};
    CHECK(message_of<ValueError>([&] { part_of(batch, 0, 1); }) ==
          str_cat("batch: target.valid_lens: expected lengths from 0 to 3, got ", length));
  }
}

TEST_CASE("batches: no label is lost with the padding of a part", "[train]") {
  PairBatch batch = three_examples();
  batch.labels.data()[2] = 5;  // of an example of length 1
  CHECK(values(part_of(batch, 0, 2).labels) ==
        std::vector<TokenId>{Vocabulary::eos, ignored, 5, 21, 22, Vocabulary::eos});
  CHECK(message_of<ValueError>([&] { part_of(batch, 0, 1); }) ==
        "batch: labels: expected no labels past the end of the target, got a label at [0, 2]");
}
