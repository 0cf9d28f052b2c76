#include <vector>

#include <weft/autograd/ops/embedding.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"

namespace weft {
namespace {

template <class T>
std::vector<T> elements(const Tensor<T>& tensor) {
  return {tensor.begin(), tensor.end()};
}

}  // namespace

TEMPLATE_TEST_CASE("embedding: gives the row of each token", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto weight = tape.constant(Tensor<TestType>({3, 2}, {1, 2, 3, 4, 5, 6}));
  const auto y = embedding(Tokens({2, 2}, {2, 0, 0, 1}), weight);
  CHECK(y.shape() == Shape{2, 2, 2});
  CHECK(elements(y.value()) == std::vector<TestType>{5, 6, 1, 2, 1, 2, 3, 4});
  CHECK(embedding(Tokens({0}), weight).shape() == Shape{0, 2});
  CHECK(embedding(Tokens(Shape{}, {1}), weight).shape() == Shape{2});
}

TEMPLATE_TEST_CASE("embedding: a row's gradient is the sum over its tokens", "[autograd]", float,
                   double) {
  Parameter<TestType> weight(Tensor<TestType>({4, 2}));
  const Tokens tokens({3}, {3, 0, 3});
  const Tensor<TestType> upstream({3, 2}, {1, 2, 3, 4, 5, 6});
  Tape<TestType> tape;
  // The rows of no token must get zero gradient, even in reused memory.
  weight.set_grad(Tensor<TestType>::full(weight.shape(), 99));
  weight.zero_grad();
  tape.backward(embedding(tokens, tape.parameter(weight)), upstream);
  CHECK(elements(weight.grad()) == std::vector<TestType>{3, 4, 0, 0, 0, 0, 6, 8});
  tape.backward(embedding(tokens, tape.parameter(weight)), upstream);
  CHECK(elements(weight.grad()) == std::vector<TestType>{6, 8, 0, 0, 0, 0, 12, 16});
  weight.zero_grad();
  tape.backward(embedding(Tokens({0}), tape.parameter(weight)), Tensor<TestType>({0, 2}));
  CHECK(elements(weight.grad()) == std::vector<TestType>(8, 0));
}

TEST_CASE("embedding: the row of the padding is read, and gets no gradient", "[autograd]") {
  Parameter<double> weight(Tensor<double>({3, 1}, {1, 2, 3}));
  Tape<double> tape;
  const auto y = embedding(Tokens({4}, {2, 0, 1, 0}), tape.parameter(weight), 0);
  CHECK(same(y.value(), Tensor<double>({4, 1}, {3, 1, 2, 1})));
  tape.backward(y, Tensor<double>({4, 1}, {10, 20, 30, 40}));
  CHECK(same(weight.grad(), Tensor<double>({3, 1}, {0, 30, 10})));
}

TEST_CASE("embedding: a token outside the vocabulary throws, naming its position", "[autograd]") {
  Tape<float> tape;
  const auto weight = tape.constant(Tensor<float>({5, 2}));
  CHECK_THROWS_AS(embedding(Tokens({2, 2}, {0, 1, 5, 2}), weight), ValueError);
  CHECK_THROWS_WITH(embedding(Tokens({2, 2}, {0, 1, 5, 2}), weight),
                    "embedding: token at [1, 0]: expected an id from 0 to 4, got 5");
  CHECK_THROWS_WITH(embedding(Tokens({3}, {0, -1, -2}), weight),
                    "embedding: token at [1]: expected an id from 0 to 4, got -1");
  CHECK_THROWS_WITH(embedding(Tokens({1}, {0}), tape.constant(Tensor<float>({0, 2}))),
                    "embedding: token at [0]: expected an id from an empty range, got 0");
}

TEST_CASE("embedding: a weight that is not a matrix throws", "[autograd]") {
  Tape<float> tape;
  CHECK_THROWS_AS(embedding(Tokens({1}, {0}), tape.constant(Tensor<float>({5}))), ShapeError);
  CHECK_THROWS_WITH(embedding(Tokens({1}, {0}), tape.constant(Tensor<float>({5}))),
                    "embedding: expected a weight [vocabulary, d], got [5]");
}

TEST_CASE("embedding: the same bits on 1, 2, 3 and 8 threads", "[autograd]") {
  Random random(4);
  for (const Index vocabulary : {40, 20000}) {
    Parameter<float> weight(random.normal_tensor<float>({vocabulary, 200}));
    Tokens tokens({9, 100});
    for (TokenId& token : tokens) token = static_cast<TokenId>(random.below(vocabulary));
    const Tensor<float> upstream = random.normal_tensor<float>({9, 100, 200});
    check_same_bits([&] {
      Tape<float> tape;
      const auto y = embedding(tokens, tape.parameter(weight));
      weight.zero_grad();
      tape.backward(y, upstream);
      return std::vector<Tensor<float>>{y.value(), weight.grad().clone()};
    });
  }
}

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"embedding",
       "with repeated tokens and unused rows",
       {{5, 3}},
       {{250, 200}},
       [](const auto& x) {
         const Index rows = x[0].shape()[0];
         return embedding(random_tokens({2, rows - rows / 3}, rows), x[0]);
       }},
      {"embedding",
       "of a scalar token",
       {{3, 2}},
       {{250, 200}},
       [](const auto& x) { return embedding(Tokens(Shape{}, {1}), x[0]); }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
