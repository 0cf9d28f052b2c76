#include <limits>
#include <numeric>

#include <weft/autograd/error.hpp>
#include <weft/train/data/split.hpp>
#include <weft/train/metrics.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

using namespace weft;

TEST_CASE("accuracy: the part of labels with the highest logit", "[train]") {
  const Tensor<float> logits({2, 2, 3}, {1, 2, 0, 5, 4, 3, 0, 0, 1, 7, 7, 7});
  CHECK(accuracy(logits, Tokens({2, 2}, {1, 0, 2, 0})) == 1.0);
  CHECK(accuracy(logits, Tokens({2, 2}, {1, 1, 2, 1})) == 0.5);
  CHECK(accuracy(logits, Tokens({2, 2}, {1, 1, -100, -100})) == 0.5);
  CHECK(accuracy(logits, Tokens::full({2, 2}, -100)) == 0.0);
}

TEST_CASE("accuracy, confusion: ignore the label that the options say", "[train]") {
  const Tensor<float> logits({4, 3}, {1, 2, 0, 5, 4, 3, 0, 0, 1, 7, 7, 7});
  const MetricValue counted = accuracy(logits, Tokens({4}, {1, 1, 2, 0}), {.ignore_index = 0});
  CHECK(counted.value == 2.0 / 3.0);
  CHECK(counted.weight == 3.0);
  CHECK(accuracy(logits, Tokens({4}, {1, -1, -1, -1}), {.ignore_index = -1}).weight == 1.0);
  CHECK(accuracy(logits, Tokens::full({4}, 7), {.ignore_index = 7}).weight == 0.0);
  CHECK(message_of<ValueError>([&] {
          accuracy(logits, Tokens::full({4}, -100), {.ignore_index = 0});
        }) == "accuracy: expected labels from 0 to 2, got -100 at [0]");
  const Tensor<double> table =
      confusion_matrix(logits, Tokens({4}, {1, 1, 2, 0}), {.ignore_index = 0});
  CHECK(same(table, Tensor<double>({3, 3}, {0, 0, 0, 1, 1, 0, 0, 0, 1})));
  Tape<float> tape;
  CHECK(accuracy(tape.constant(logits), Tokens({4}, {1, 1, 2, 0}), {.ignore_index = 0}) ==
        2.0 / 3.0);
  CHECK(std::ranges::equal(tape.label_counts(), std::vector{3.0}));
}

TEST_CASE("accuracy: other shapes and labels outside the classes are refused", "[train]") {
  const Tensor<float> logits({2, 3});
  CHECK(message_of<ShapeError>([&] { accuracy(logits, Tokens({3})); }) ==
        "accuracy: expected logits [..., classes] and labels [...], got [2, 3] and [3]");
  CHECK(message_of<ValueError>([&] {
          accuracy(logits, Tokens({2}, {0, 3}));
        }) == "accuracy: expected labels from 0 to 2, got 3 at [1]");
  CHECK(message_of<ValueError>([] {
          accuracy(Tensor<float>({1, 0}), Tokens({1}, {0}));
        }) == "accuracy: expected labels from an empty range, got 0 at [0]");
}

TEST_CASE("split: every example is in one of the parts", "[train]") {
  std::vector<int> examples(10);
  std::iota(examples.begin(), examples.end(), 0);
  auto [first, second] = split_examples(examples, 0.7, 1);
  CHECK(first.size() == 7);
  CHECK(second.size() == 3);
  CHECK(split_examples(examples, 0.7, 1).second == second);
  CHECK(split_examples(examples, 0.7, 2).second != second);
  first.insert(first.end(), second.begin(), second.end());
  CHECK(std::ranges::is_permutation(first, examples));
  CHECK(split_examples(examples, 0.0, 1).first.empty());
  CHECK(split_examples(examples, 1.0, 1).second.empty());
  CHECK_THROWS_AS(split_examples(examples, 1.1, 1), ValueError);
}

TEST_CASE("accuracy: a logit that is NaN is the highest, as in argmax", "[train]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(accuracy(Tensor<float>({3, 2}, {nan, 1, 0, nan, 2, 1}), Tokens({3}, {1, 1, 0})) ==
        2.0 / 3.0);
}
