// The last batch of an epoch, and `drop_last` in every source.
#include <cmath>
#include <numeric>
#include <set>

#include <weft/autograd/error.hpp>
#include <weft/train/data/batch_sampler.hpp>
#include <weft/train/data/labelled.hpp>
#include <weft/train/data/packed.hpp>
#include <weft/train/data/pairs.hpp>
#include <weft/train/data/tensor_batch.hpp>
#include <weft/train/data/windows.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

// Examples of 1, 2, … tokens.
std::vector<ExampleLengths> growing(Index count) {
  std::vector<ExampleLengths> lengths(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) lengths[static_cast<std::size_t>(i)].source = i + 1;
  return lengths;
}

std::multiset<Index> examples_of(BatchSampler& sampler, std::int64_t epoch) {
  std::multiset<Index> seen;
  for (Index i = 0; i < sampler.num_batches(); ++i) {
    const auto batch = sampler.batch(epoch, i);
    seen.insert(batch.begin(), batch.end());
  }
  return seen;
}

template <class B>
std::vector<Index> batch_sizes(DataSource<B>& source) {
  std::vector<Index> sizes;
  for (Index i = 0; i < source.num_batches(); ++i)
    sizes.push_back(num_examples(source.batch(3, i)));
  std::ranges::sort(sizes);
  return sizes;
}

// Ten examples in batches of four, by a function that makes the source with `drop_last` or without.
template <class Make>
void check_source(const Make& make) {
  auto whole = make(false), dropped = make(true);
  CHECK(batch_sizes(whole) == std::vector<Index>{2, 4, 4});
  CHECK(batch_sizes(dropped) == std::vector<Index>{4, 4});
  CHECK(whole.fingerprint() != dropped.fingerprint());
}

}  // namespace

TEST_CASE("batches: drop_last leaves out the examples that do not fill a batch, in every source",
          "[train]") {
  const Tensor<float> x({10, 2});
  check_source([&](bool drop_last) {
    return TensorBatches<float>(x, x, {.batch_size = 4, .drop_last = drop_last});
  });
  check_source([](bool drop_last) {
    return LabelledBatches(std::vector<LabelledSequence>(10, {{4, 5}, 1}),
                           {.batch_size = 4, .drop_last = drop_last});
  });
  check_source([](bool drop_last) {
    return PairBatches(std::vector<SequencePair>(10, {{4, 5}, {6}}),
                       {.batch_size = 4, .drop_last = drop_last});
  });
  for (const bool random_starts : {false, true})
    check_source([&](bool drop_last) {
      return WindowBatches<TokenId>(
          Tokens({31}),
          {.length = 3, .random_starts = random_starts, .batch_size = 4, .drop_last = drop_last});
    });
  check_source([](bool drop_last) {
    return PackedBatches(std::vector<LearnedText>(10, {{1, 2, 3}, {true, true, true}}),
                         {.length = 2, .batch_size = 4, .drop_last = drop_last});
  });
}

TEST_CASE("batches: drop_last leaves out others in each epoch, the longest no more often",
          "[train]") {
  BatchSampler sampler(growing(11), {.batch_size = 4, .seed = 3, .drop_last = true});
  REQUIRE(sampler.num_batches() == 2);
  std::vector<int> left_out(11, 0);
  for (std::int64_t epoch = 0; epoch < 110; ++epoch) {
    const std::multiset<Index> seen = examples_of(sampler, epoch);
    CHECK(seen.size() == 8);
    for (Index i = 0; i < 11; ++i) {
      CHECK(seen.count(i) <= 1);
      if (!seen.contains(i)) ++left_out[static_cast<std::size_t>(i)];
    }
  }
  // 30 of 110 epochs each, with a standard deviation of 4.7.
  for (const int epochs : left_out) {
    CHECK(epochs > 10);
    CHECK(epochs < 50);
  }
}

TEST_CASE("batches: drop_last without shuffling leaves out the last ones, as torch does",
          "[train]") {
  BatchSampler sampler(growing(11), {.batch_size = 4, .shuffle = false, .drop_last = true});
  for (const std::int64_t epoch : {0, 1})
    CHECK(examples_of(sampler, epoch) == std::multiset<Index>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("batches: drop_last changes nothing where batches are full, and refuses too few",
          "[train]") {
  BatchSampler whole(growing(8), {.batch_size = 4, .seed = 5}),
      dropped(growing(8), {.batch_size = 4, .seed = 5, .drop_last = true});
  for (Index i = 0; i < 2; ++i) CHECK(std::ranges::equal(whole.batch(6, i), dropped.batch(6, i)));
  CHECK(message_of<ValueError>(
            [] { BatchSampler(growing(3), {.batch_size = 4, .drop_last = true}); }) ==
        "batches: number of examples, with drop_last: expected at least the batch size, 4, got 3");
  BatchSampler one(growing(4), {.batch_size = 4, .drop_last = true});
  CHECK(one.num_batches() == 1);
}

TEST_CASE("batches: weights draw the examples in proportion, with repetition", "[train]") {
  // Weights 0, 1, 2, 3, 0 of 5 examples.
  const std::vector<double> weights{0.0, 0.5, 1.0, 1.5, 0.0};
  BatchSampler sampler(growing(5), {.batch_size = 2, .seed = 3, .weights = weights});
  CHECK(sampler.num_batches() == 3);
  std::vector<int> counts(5, 0);
  for (std::int64_t epoch = 0; epoch < 1200; ++epoch) {
    const std::multiset<Index> seen = examples_of(sampler, epoch);
    CHECK(seen.size() == 5);
    for (const Index example : seen) ++counts[static_cast<std::size_t>(example)];
  }
  // 6000 draws with probabilities 1/6, 1/3 and 1/2, whose standard deviations are below 39.
  CHECK(counts[0] == 0);
  CHECK(std::abs(counts[1] - 1000) < 160);
  CHECK(std::abs(counts[2] - 2000) < 160);
  CHECK(std::abs(counts[3] - 3000) < 160);
  CHECK(counts[4] == 0);
  BatchSampler again(growing(5), {.batch_size = 2, .seed = 3, .weights = weights});
  CHECK(examples_of(again, 7) == examples_of(sampler, 7));
}

TEST_CASE("batches: balanced weights draw every class equally often", "[train]") {
  const Tokens labels({6}, {2, 0, 2, 2, 2, 0});
  CHECK(balanced_weights(labels) == std::vector{0.25, 0.5, 0.25, 0.25, 0.25, 0.5});
  BatchSampler sampler(growing(6), {.weights = balanced_weights(labels)});
  int rare = 0;
  for (std::int64_t epoch = 0; epoch < 1000; ++epoch)
    for (const Index example : examples_of(sampler, epoch)) rare += labels(example) == 0;
  CHECK(std::abs(rare - 3000) < 160);  // the standard deviation is 39
}

TEST_CASE("batches: weights that cannot be drawn from are refused", "[train]") {
  const auto message = [](std::vector<double> weights, bool shuffle = true) {
    return message_of<ValueError>(
        [&] { BatchSampler(growing(3), {.shuffle = shuffle, .weights = std::move(weights)}); });
  };
  CHECK(message({1.0, 1.0}) == "batches: weights: expected one for each of 3 examples, got 2");
  CHECK(message({1.0, 1.0, 1.0}, false) ==
        "batches: shuffle: expected true, with weights, got false");
  CHECK(message({1.0, -1.0, 1.0}) == "batches: weights: expected a finite number ≥ 0, got -1");
  CHECK(contains(message({1.0, std::nan(""), 1.0}), "expected a finite number ≥ 0, got "));
  CHECK(message({0.0, 0.0, 0.0}) == "batches: weights: expected a finite sum > 0, got 0");
  CHECK(message({1e308, 1e308, 1e308}) == "batches: weights: expected a finite sum > 0, got inf");
  const Tensor<float> x({3, 1});
  CHECK(TensorBatches<float>(x, x, {.weights = {1, 1, 2}}).fingerprint() !=
        TensorBatches<float>(x, x, {.weights = {1, 1, 1}}).fingerprint());
}
