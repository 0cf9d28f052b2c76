// The operations of shaping.hpp that split, pad, add and remove axes.
#include <limits>
#include <numeric>

#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/shaping.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"

namespace weft {
namespace {

template <class T>
Tensor<T> counting(Shape shape) {
  Tensor<T> tensor(shape);
  std::iota(tensor.begin(), tensor.end(), T{0});
  return tensor;
}

}  // namespace

TEMPLATE_TEST_CASE("split: into equal sizes, the last one smaller", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto x = tape.constant(counting<TestType>({2, 5}));
  const auto parts = split(x, 1, 2);
  REQUIRE(parts.size() == 3);
  CHECK(same(parts[0].value(), Tensor<TestType>({2, 2}, {0, 1, 5, 6})));
  CHECK(same(parts[1].value(), Tensor<TestType>({2, 2}, {2, 3, 7, 8})));
  CHECK(same(parts[2].value(), Tensor<TestType>({2, 1}, {4, 9})));
  CHECK(split(x, 0, 2).size() == 1);
  CHECK(split(x, 0, 100).size() == 1);
  // As in torch.split, one part of an axis without positions.
  CHECK(split(tape.constant(Tensor<TestType>({0})), 0, 2).front().shape() == Shape{0});
}

TEST_CASE("split: into given sizes", "[autograd]") {
  Tape<float> tape;
  const auto x = tape.constant(counting<float>({2, 5}));
  const auto parts = split(x, -1, {1, 0, 4});
  REQUIRE(parts.size() == 3);
  CHECK(same(parts[0].value(), Tensor<float>({2, 1}, {0, 5})));
  CHECK(parts[1].shape() == Shape{2, 0});
  CHECK(same(parts[2].value(), Tensor<float>({2, 4}, {1, 2, 3, 4, 6, 7, 8, 9})));
  CHECK(split(x, 0, {2}).size() == 1);
}

TEST_CASE("split: wrong sizes throw", "[autograd]") {
  Tape<float> tape;
  const auto x = tape.constant(Tensor<float>({2, 5}));
  CHECK_THROWS_AS(split(x, 1, 0), ValueError);
  CHECK_THROWS_WITH(split(x, 1, 0), "split: expected a size > 0, got 0");
  CHECK_THROWS_WITH(split(x, 2, 1), "split: expected an axis of [2, 5], got 2");
  CHECK_THROWS_WITH(
      split(x, 1, {2, 2}),
      "split: expected sizes that add up to the size of axis 1 of [2, 5], got a sum of 4");
  CHECK_THROWS_WITH(split(x, 1, {6, -1}), "split: expected sizes of at least 0, got -1");
}

TEST_CASE("squeeze, unsqueeze: an axis of size 1 removed and added", "[autograd]") {
  Tape<float> tape;
  const auto x = tape.constant(counting<float>({2, 1, 3}));
  CHECK(squeeze(x, 1).shape() == Shape{2, 3});
  const Var y = squeeze(x, -2);
  CHECK(y.value().data() == x.value().data());
  CHECK(unsqueeze(x, 0).shape() == Shape{1, 2, 1, 3});
  CHECK(unsqueeze(x, -1).shape() == Shape{2, 1, 3, 1});
  CHECK_THROWS_AS(squeeze(x, 0), ShapeError);
  CHECK_THROWS_WITH(squeeze(x, 0), "squeeze: expected an axis of size 1, got axis 0 of [2, 1, 3]");
  CHECK_THROWS_WITH(squeeze(x, 3), "squeeze: expected an axis of [2, 1, 3], got 3");
  CHECK_THROWS_WITH(unsqueeze(x, 4),
                    "unsqueeze: expected an axis position from 0 to 3, got 4 for shape [2, 1, 3]");
}

TEMPLATE_TEST_CASE("pad: positions before and after, with a value", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto x = tape.constant(Tensor<TestType>({2, 2}, {1, 2, 3, 4}));
  CHECK(same(pad(x, 1, 1, 2).value(), Tensor<TestType>({2, 5}, {0, 1, 2, 0, 0, 0, 3, 4, 0, 0})));
  CHECK(same(pad(x, 0, 0, 1, -7).value(), Tensor<TestType>({3, 2}, {1, 2, 3, 4, -7, -7})));
  CHECK(same(pad(x, -1, 0, 0).value(), x.value()));
  CHECK(same(pad(tape.constant(Tensor<TestType>({0})), 0, 1, 1, 5).value(),
             Tensor<TestType>({2}, {5, 5})));
}

TEST_CASE("pad: a negative number of positions and a size too large throw", "[autograd]") {
  Tape<float> tape;
  const auto x = tape.constant(Tensor<float>({2, 2}));
  CHECK_THROWS_AS(pad(x, 0, -1, 0), ShapeError);
  CHECK_THROWS_WITH(pad(x, 0, -1, 2), "pad: expected before and after ≥ 0, got -1 and 2");
  CHECK_THROWS_WITH(pad(x, 2, 0, 0), "pad: expected an axis of [2, 2], got 2");
  constexpr Index most = std::numeric_limits<Index>::max();
  CHECK_THROWS_AS(pad(x, 0, most, most), ShapeError);
}

TEST_CASE("split, pad: at the size of several ranges, on any number of threads", "[autograd]") {
  Parameter<float> p(Random(3).normal_tensor<float>({60, 70, 30}));
  const Tensor<float>& x = p.value();
  for (const Index axis : {0, 1, 2})
    check_same_bits([&] {
      Tape<float> tape;
      p.zero_grad();
      const Var padded = pad(tape.parameter(p), axis, 3, 5, 2.5);
      const auto parts = split(padded, axis, {3, x.shape()[axis], 5});
      CHECK(same(parts[1].value(), x));
      for (const Index i : {0, 2}) {
        const Tensor<float> added = parts[static_cast<std::size_t>(i)].value();
        CHECK(same(added, Tensor<float>::full(added.shape(), 2.5F)));
      }
      tape.backward(parts[1], x);
      CHECK(same(p.grad(), x));
      return std::vector{padded.value(), p.grad().clone()};
    });
}

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"split",
       "into equal sizes",
       {{3, 5}},
       {{300, 171}},
       [](const auto& x) {
         const auto parts = split(x[0], 1, (x[0].shape()[1] + 1) / 2);
         return pad(parts.back(), 1, 0, 1) * parts.front();
       }},
      {"split",
       "into given sizes",
       {{4, 3}},
       {{170, 300}},
       [](const auto& x) {
         const auto parts = split(x[0], 0, {1, x[0].shape()[0] - 1});
         return parts[0] * parts[1];
       }},
      {"squeeze",
       "an axis",
       {{2, 1, 3}},
       {{200, 1, 250}},
       [](const auto& x) { return squeeze(x[0], 1); }},
      {"unsqueeze",
       "an axis",
       {{2, 3}},
       {{200, 250}},
       [](const auto& x) { return unsqueeze(x[0], 1); }},
      {"pad",
       "the last axis",
       {{3, 4}},
       {{300, 170}},
       [](const auto& x) { return pad(x[0], -1, 2, 1, 0.5); }},
      {"pad",
       "the first axis",
       {{3, 4}},
       {{170, 300}},
       [](const auto& x) { return pad(x[0], 0, 1, 3); }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
