#include <numeric>

#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/indexing.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"

namespace weft {
namespace {

template <class T>
std::vector<T> values(const Tensor<T>& tensor) {
  return {tensor.begin(), tensor.end()};
}

// 0, 1, 2, …
template <class T>
Tensor<T> counting(Shape shape) {
  Tensor<T> tensor(shape);
  std::iota(tensor.begin(), tensor.end(), T{0});
  return tensor;
}

}  // namespace

TEMPLATE_TEST_CASE("gather: values computed by hand", "[autograd]", float, double) {
  using Values = std::vector<TestType>;
  const Tensor<TestType> x({2, 3}, {10, 11, 12, 20, 21, 22});
  CHECK(values(gather(x, 1, Indices({2, 2}, {2, 0, 1, 1}))) == Values{12, 10, 21, 21});
  CHECK(values(gather(x, -1, Indices({2, 4}, {0, 1, 2, 0, 2, 1, 0, 2}))) ==
        Values{10, 11, 12, 10, 22, 21, 20, 22});
  CHECK(values(gather(x, 0, Indices({1, 3}, {1, 0, 1}))) == Values{20, 11, 22});
  // Sizes smaller than x's on the other axis.
  CHECK(values(gather(x, 0, Indices({3, 2}, {0, 1, 1, 1, 0, 0}))) ==
        Values{10, 21, 20, 21, 10, 11});
  CHECK(gather(x, 1, Indices({2, 0})).shape() == Shape{2, 0});
  Tape<TestType> tape;
  CHECK(values(gather(tape.constant(x), 1, Indices({2, 1}, {2, 0})).value()) == Values{12, 20});
}

TEMPLATE_TEST_CASE("index_select: values computed by hand", "[autograd]", float, double) {
  using Values = std::vector<TestType>;
  const Tensor<TestType> x({2, 3}, {10, 11, 12, 20, 21, 22});
  CHECK(values(index_select(x, 0, Indices({3}, {1, 1, 0}))) ==
        Values{20, 21, 22, 20, 21, 22, 10, 11, 12});
  CHECK(values(index_select(x, -1, Indices({2}, {2, 0}))) == Values{12, 10, 22, 20});
  CHECK(index_select(x, 1, Indices({0})).shape() == Shape{2, 0});
}

TEMPLATE_TEST_CASE("select: one position of an axis", "[autograd]", float, double) {
  const auto x = counting<TestType>({2, 3, 2});
  CHECK(same(select(x, 0, 1), Tensor<TestType>({3, 2}, {6, 7, 8, 9, 10, 11})));
  CHECK(same(select(x, 1, -1), Tensor<TestType>({2, 2}, {4, 5, 10, 11})));
  CHECK(same(select(x, -1, 0), Tensor<TestType>({2, 3}, {0, 2, 4, 6, 8, 10})));
  CHECK(select(select(select(x, 0, 1), 0, 1), 0, 1).item() == 9);
}

TEST_CASE("gather, index_select: the gradients of repeated indices add up", "[autograd]") {
  const Parameter<float> p(Tensor<float>({2, 2}, {1, 2, 3, 4}));
  Tape<float> tape;
  tape.backward(gather(tape.parameter(p), 1, Indices({2, 3}, {0, 0, 1, 1, 1, 1})),
                Tensor<float>({2, 3}, {1, 10, 100, 1, 10, 100}));
  CHECK(values(p.grad()) == std::vector<float>{11, 100, 0, 111});
  tape.backward(index_select(tape.parameter(p), 0, Indices({3}, {1, 1, 1})),
                Tensor<float>({3, 2}, {1, 2, 10, 20, 100, 200}));
  CHECK(values(p.grad()) == std::vector<float>{11, 100, 111, 333});
}

TEST_CASE("gather, index_select: indices changed after forward change no gradient", "[autograd]") {
  const Parameter<float> p(Tensor<float>({2, 2}, {1, 2, 3, 4}));
  Indices indices({2, 1}, {0, 1}), rows({1}, {1});
  std::int32_t* const written = indices.data();
  std::int32_t* const row = rows.data();
  Tape<float> tape;
  const Var x = tape.parameter(p);
  const Var y = sum(gather(x, 1, indices)) + sum(index_select(x, 0, rows));
  written[0] = written[1] = *row = 1000000;
  tape.backward(y);
  CHECK(values(p.grad()) == std::vector<float>{1, 0, 1, 2});
}

TEST_CASE("gather, index_select, select: wrong shapes and indices throw", "[autograd]") {
  const Tensor<float> x({2, 3});
  CHECK_THROWS_AS(gather(x, 1, Indices({2, 2}, {0, 1, 3, 0})), ValueError);
  CHECK_THROWS_WITH(gather(x, 1, Indices({2, 2}, {0, 1, 3, 0})),
                    "gather: index at [1, 0]: expected a value from 0 to 2, got 3");
  CHECK_THROWS_WITH(gather(x, 0, Indices({1, 3}, {0, -1, 0})),
                    "gather: index at [0, 1]: expected a value from 0 to 1, got -1");
  CHECK_THROWS_AS(gather(x, 1, Indices({2})), ShapeError);
  CHECK_THROWS_WITH(gather(x, 1, Indices({3, 1})),
                    "gather: expected indices no larger than [2, 3] except on axis 1, got [3, 1]");
  CHECK_THROWS_WITH(gather(x, 2, Indices({2, 3})), "gather: expected an axis of [2, 3], got 2");
  CHECK_THROWS_WITH(index_select(x, 0, Indices({2}, {0, 2})),
                    "index_select: index at [1]: expected a value from 0 to 1, got 2");
  CHECK_THROWS_WITH(index_select(x, 0, Indices({1, 1})),
                    "index_select: expected indices [n], got [1, 1]");
  CHECK_THROWS_WITH(index_select(Tensor<float>({0}), 0, Indices({1})),
                    "index_select: index at [0]: expected no index for an empty axis, got 0");
  CHECK_THROWS_AS(select(x, 1, 3), ShapeError);
  CHECK_THROWS_WITH(select(x, 1, 3), "select: expected an index of axis 1 of [2, 3], got 3");
  CHECK_THROWS_WITH(select(x, 1, -4), "select: expected an index of axis 1 of [2, 3], got -4");
}

TEST_CASE("gather, index_select: at the size of several ranges, on any number of threads",
          "[autograd]") {
  const auto x = Random(3).normal_tensor<float>({30, 40, 90});
  const Indices elements = random_tokens({30, 50, 90}, 40), positions = random_tokens({77}, 40);
  const Tensor<float> picked = gather(x, 1, elements), selected = index_select(x, 1, positions);
  Index wrong = 0;
  for (Index i = 0; i < picked.size(); ++i)
    wrong += picked.data()[i] != x(i / 90 / 50, elements.data()[i], i % 90);
  for (Index i = 0; i < selected.size(); ++i)
    wrong += selected.data()[i] != x(i / 90 / 77, positions.data()[i / 90 % 77], i % 90);
  CHECK(wrong == 0);

  Parameter<float> p(x);
  check_same_bits([&] {
    std::vector<Tensor<float>> results;
    for (const Index axis : {0, 1, 2}) {
      Tape<float> tape;
      p.zero_grad();
      const Var y = gather(tape.parameter(p), axis, random_tokens(x.shape(), x.shape()[axis]));
      tape.backward(y, x);
      results.push_back(p.grad().clone());
      p.zero_grad();
      const Var z = index_select(tape.parameter(p), axis, random_tokens({200}, x.shape()[axis]));
      tape.backward(sum(z * z));
      results.push_back(p.grad().clone());
    }
    return results;
  });
}

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"gather",
       "the last axis, with repeated indices",
       {{3, 4}},
       {{300, 70}},
       [](const auto& x) {
         return gather(x[0], -1, random_tokens({x[0].shape()[0], 90}, x[0].shape()[1]));
       }},
      {"gather",
       "an axis in the middle",
       {{2, 3, 5}},
       {{20, 30, 150}},
       [](const auto& x) {
         const Shape& shape = x[0].shape();
         return gather(x[0], 1, random_tokens(shape.with(1, 40), shape[1]));
       }},
      {"gather",
       "a part of the other axes",
       {{3, 2, 4}},
       {{250, 3, 90}},
       [](const auto& x) {
         const Shape& shape = x[0].shape();
         return gather(x[0], 1, random_tokens({shape[0] - 1, 4, shape[2] - 2}, shape[1]));
       }},
      {"index_select",
       "rows, with repeated indices",
       {{4, 3}},
       {{100, 1000}},
       [](const auto& x) { return index_select(x[0], 0, random_tokens({60}, x[0].shape()[0])); }},
      {"index_select",
       "the last axis",
       {{3, 4}},
       {{500, 60}},
       [](const auto& x) { return index_select(x[0], 1, random_tokens({50}, x[0].shape()[1])); }},
      {"select",
       "a middle axis",
       {{2, 3, 4}},
       {{60, 5, 900}},
       [](const auto& x) { return select(x[0], 1, -2); }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
