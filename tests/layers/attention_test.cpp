// DotProductAttention, MultiHeadAttention and SelfAttention.
#include <cmath>
#include <limits>

#include <weft/layers.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/layers/scorings.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

bool all_finite(const Tensor<double>& tensor) {
  return std::all_of(tensor.begin(), tensor.end(), [](double x) { return std::isfinite(x); });
}

// Sets all keys of a sequence from `first` on to `value`.
void fill_keys(Parameter<double>& keys, Index batch, Index first, double value) {
  for (Index key = first; key < keys.shape()[1]; ++key)
    for (Index c = 0; c < keys.shape()[2]; ++c) keys(batch, key, c) = value;
}

MultiHeadAttention<double> small_attention(Random& random,
                                           Scoring scoring = Scoring::scaled_dot_product) {
  return {{.query_size = 3,
           .key_size = 4,
           .value_size = 5,
           .num_hiddens = 6,
           .num_heads = 2,
           .scoring = scoring},
          random};
}

}  // namespace

TEST_CASE("dot-product attention: equal keys average the unmasked values", "[layers]") {
  const DotProductAttention<double> attention({});
  Tape<double> tape({.recording = false, .keep_attention_weights = true});
  Random random(1);
  const Var queries = tape.constant(random.normal_tensor<double>({2, 1, 2}));
  const Var keys = tape.constant(Tensor<double>::full({2, 4, 2}, 1.0));
  const Var values =
      tape.constant(Tensor<double>({2, 4, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7}));
  const Var y = attention(queries, keys, values, ValidLens{2, 3});
  const Tensor<double> weights = tape.take_attention_weights().front();
  CHECK(distance(y.value(), Tensor<double>({2, 1, 2}, {1, 2, 2, 3})) < 1e-15);
  const double half = 0.5, third = 1.0 / 3.0;
  CHECK(distance(weights,
                 Tensor<double>({2, 1, 1, 4}, {half, half, 0, 0, third, third, third, 0})) < 1e-15);
}

TEST_CASE("dot-product attention: invalid arguments throw", "[layers]") {
  CHECK(message_of<ValueError>([] { DotProductAttention({.num_heads = 0}); }) ==
        "AttentionPooling: num_heads: expected a number > 0, got 0");
  CHECK(contains(message_of<ValueError>([] { DotProductAttention({.dropout = 2.0}); }), "got 2"));
}

TEST_CASE("multi-head attention: d2l.ai's example has the expected shape", "[layers]") {
  Random random(42);
  MultiHeadAttention attention({.query_size = 100,
                                .key_size = 100,
                                .value_size = 100,
                                .num_hiddens = 100,
                                .num_heads = 5,
                                .dropout = 0.5f},
                               random);
  const auto X = Tensor<float>::full({2, 4, 100}, 1.0f);
  const auto Y = Tensor<float>::full({2, 6, 100}, 1.0f);
  Tape tape = Tape<float>::inference();
  Var y = attention(tape.constant(X), tape.constant(Y), tape.constant(Y), ValidLens{3, 2});
  CHECK(y.shape() == Shape{2, 4, 100});
  const ValidLens by_query(Tensor<std::int32_t>({2, 4}, {3, 2, 1, 6, 0, 5, 4, 3}));
  CHECK(attention(tape.constant(X), tape.constant(Y), tape.constant(Y), by_query).shape() ==
        Shape{2, 4, 100});
}

TEST_CASE("multi-head attention: returned weights of each head sum to one", "[layers]") {
  Random random(1);
  const MultiHeadAttention<double> attention =
      small_attention(random, GENERATE(from_range(scorings)));
  Tape<double> tape({.training = true, .keep_attention_weights = true});
  attention(tape.constant(random.normal_tensor<double>({2, 3, 3})),
            tape.constant(random.normal_tensor<double>({2, 4, 4})),
            tape.constant(random.normal_tensor<double>({2, 4, 5})), ValidLens{4, 2});
  const Tensor<double> weights = tape.take_attention_weights().front();
  REQUIRE(weights.shape() == Shape{2, 2, 3, 4});
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 2; ++h)
      for (Index q = 0; q < 3; ++q) {
        double sum = 0.0;
        for (Index k = 0; k < 4; ++k) sum += weights(b, h, q, k);
        CHECK(std::abs(sum - 1.0) < 1e-14);
        if (b == 1) CHECK(weights(b, h, q, 2) + weights(b, h, q, 3) == 0.0);
      }
}

TEST_CASE("multi-head attention: a sequence of length 0 gives zeros and zero gradient",
          "[layers]") {
  Random random(1);
  MultiHeadAttention<double> attention = small_attention(random);
  Parameter<double> queries(random.normal_tensor<double>({1, 3, 3}));
  Parameter<double> keys(random.normal_tensor<double>({1, 4, 4}));
  Parameter<double> values(random.normal_tensor<double>({1, 4, 5}));
  Tape<double> tape;
  const Var y = attention(tape.parameter(queries), tape.parameter(keys), tape.parameter(values),
                          ValidLens{0});
  CHECK(same(y.value(), Tensor<double>({1, 3, 6})));
  tape.backward(y, random.normal_tensor<double>(y.shape()));
  for (Parameter<double>* x : {&queries, &keys, &values, &attention.W_q.weight,
                               &attention.W_k.weight, &attention.W_v.weight})
    CHECK(same(x->grad(), Tensor<double>(x->shape())));
}

TEST_CASE("multi-head attention: masked keys and values have no effect, for every scoring function",
          "[layers]") {
  Random random(1);
  MultiHeadAttention<double> attention = small_attention(random, GENERATE(from_range(scorings)));
  const Tensor<double> x = random.normal_tensor<double>({2, 3, 3});
  const Tensor<double> k = random.normal_tensor<double>({2, 4, 4});
  const Tensor<double> v = random.normal_tensor<double>({2, 4, 5});
  const Tensor<double> upstream = random.normal_tensor<double>({2, 3, 6});

  struct Result {
    Tensor<double> y;
    std::vector<Tensor<double>> gradients;
  };
  const auto run = [&](double padding, const Mask& mask) {
    Parameter<double> queries(x), keys(k), values(v);
    fill_keys(keys, 1, 2, padding);
    fill_keys(values, 1, 2, padding);
    Tape<double> tape;
    const Var y =
        attention(tape.parameter(queries), tape.parameter(keys), tape.parameter(values), mask);
    tape.backward(y, upstream);
    Result result{y.value(), {queries.grad(), keys.grad(), values.grad()}};
    for (const auto& [name, parameter] : named_parameters(attention)) {
      result.gradients.push_back(parameter->grad().clone());
      parameter->zero_grad();
    }
    return result;
  };

  Tensor<bool> allowed = Tensor<bool>::full({2, 3, 4}, true);
  Tensor<float> bias = random.normal_tensor<float>({2, 3, 4});
  for (Index q = 0; q < 3; ++q) {
    allowed(1, q, 2) = allowed(1, q, 3) = false;
    bias(1, q, 2) = bias(1, q, 3) = -std::numeric_limits<float>::infinity();
  }
  const Mask masks[] = {ValidLens{4, 2},
                        ValidLens(Tensor<std::int32_t>({2, 3}, {4, 1, 3, 1, 2, 0})),
                        {.allowed = allowed},
                        {.bias = bias}};
  for (const Mask& mask : masks) {
    const Result with_zeros = run(0.0, mask);
    for (double padding : {not_a_number, std::numeric_limits<double>::infinity(), 1e300}) {
      const Result result = run(padding, mask);
      CHECK(same(result.y, with_zeros.y));
      CHECK(all_finite(result.y));
      for (std::size_t i = 0; i < result.gradients.size(); ++i)
        CHECK(same(result.gradients[i], with_zeros.gradients[i]));
    }
  }
}

TEST_CASE("multi-head attention: one query, one key, no keys, no batch", "[layers]") {
  Random random(1);
  const MultiHeadAttention<double> attention =
      small_attention(random, GENERATE(from_range(scorings)));
  Tape<double> tape;
  const auto run = [&](Index batch, Index queries, Index keys) {
    return attention(tape.constant(random.normal_tensor<double>({batch, queries, 3})),
                     tape.constant(random.normal_tensor<double>({batch, keys, 4})),
                     tape.constant(random.normal_tensor<double>({batch, keys, 5})));
  };
  CHECK(all_finite(run(1, 1, 1).value()));
  CHECK(same(run(2, 3, 0).value(), Tensor<double>({2, 3, 6})));
  CHECK(run(0, 3, 4).shape() == Shape{0, 3, 6});
  CHECK(run(2, 0, 4).shape() == Shape{2, 0, 6});
}

TEST_CASE("multi-head attention: num_heads must divide num_hiddens", "[layers]") {
  Random random(1);
  const auto message = [&](Index num_hiddens, Index num_heads) {
    return message_of<ValueError>([&] {
      MultiHeadAttention({.query_size = 8,
                          .key_size = 8,
                          .value_size = 8,
                          .num_hiddens = num_hiddens,
                          .num_heads = num_heads},
                         random);
    });
  };
  CHECK(message(100, 3) ==
        "MultiHeadAttention: expected num_hiddens > 0 divisible by num_heads > 0, got num_hiddens "
        "100 and num_heads 3");
  CHECK(contains(message(100, 0), "num_hiddens 100 and num_heads 0"));
  CHECK(contains(message(100, -5), "num_hiddens 100 and num_heads -5"));
  CHECK(contains(message(0, 5), "num_hiddens 0 and num_heads 5"));
}

TEST_CASE("multi-head attention: invalid arguments throw", "[layers]") {
  Random random(1);
  CHECK(message_of<ValueError>([&] {
          MultiHeadAttention({.query_size = 8, .key_size = 8, .num_hiddens = 8}, random);
        }) == "MultiHeadAttention: value_size: expected a number > 0, got 0");

  const MultiHeadAttention<double> attention = small_attention(random);
  Tape<double> tape;
  const auto zeros = [&](Shape shape) { return tape.constant(Tensor<double>(shape)); };
  const Var queries = zeros({2, 3, 3}), keys = zeros({2, 4, 4}), values = zeros({2, 4, 5});
  const auto shape_error = [&](const Var<double>& q, const Var<double>& k, const Var<double>& v,
                               const Mask& mask = {}) {
    return message_of<ShapeError>([&] { attention(q, k, v, mask); });
  };
  CHECK(shape_error(zeros({2, 3, 4}), keys, values) ==
        "MultiHeadAttention: queries: expected shape [batch, time, 3], got [2, 3, 4]");
  CHECK(contains(shape_error(queries, zeros({2, 4}), values), "keys: expected"));
  CHECK(contains(shape_error(queries, keys, zeros({2, 4, 4})), "values: expected"));
  // As many keys as values, as many sequences of each.
  CHECK(contains(shape_error(queries, keys, zeros({2, 3, 5})), "values [2, 3, 5]"));
  CHECK(contains(shape_error(queries, zeros({1, 4, 4}), zeros({1, 4, 5})), "keys [1, 4, 4]"));
  CHECK(contains(shape_error(queries, keys, values, ValidLens{1, 2, 3}), "valid_lens"));
  CHECK(contains(shape_error(queries, keys, values, {.allowed = Tensor<bool>({3, 3})}), "[3, 3]"));
  const auto value_error = [&](const Mask& mask) {
    return message_of<ValueError>([&] { attention(queries, keys, values, mask); });
  };
  CHECK(contains(value_error(ValidLens{-1, 2}), "lengths from 0 to 4, got -1"));
  CHECK(contains(value_error(ValidLens{2, 5}), "lengths from 0 to 4, got 5"));
}

TEST_CASE(
    "multi-head attention: parameters have the same names for every scoring function, "
    "and additive scoring adds its own",
    "[layers]") {
  Random random(1);
  const auto names_of = [&](Scoring scoring) {
    MultiHeadAttention<double> attention = small_attention(random, scoring);
    std::vector<std::string> names;
    for (const auto& [name, parameter] : named_parameters(attention)) names.push_back(name);
    return names;
  };
  const std::vector<std::string> projections = {"W_q.weight", "W_k.weight", "W_v.weight",
                                                "W_o.weight"};
  for (const Scoring scoring :
       {Scoring::scaled_dot_product, Scoring::dot_product, Scoring::gaussian, Scoring::cosine})
    CHECK(names_of(scoring) == projections);
  std::vector<std::string> additive = {"attention.additive.W_q.weight",
                                       "attention.additive.W_k.weight",
                                       "attention.additive.w_v.weight"};
  additive.insert(additive.end(), projections.begin(), projections.end());
  CHECK(names_of(Scoring::additive) == additive);
}

TEST_CASE("self-attention: num_hiddens 512 with 8 heads, with and without biases", "[layers]") {
  Random random(1);
  CHECK(count_parameters(SelfAttention({.num_hiddens = 512, .num_heads = 8}, random)) ==
        4 * 512 * 512);
  SelfAttention attention({.num_hiddens = 512, .num_heads = 8, .bias = true}, random);
  CHECK(count_parameters(attention) == 4 * (512 * 512 + 512));
  Tape<float> tape({.recording = false, .keep_attention_weights = true});
  const Var x = tape.constant(random.normal_tensor<float>({2, 3, 512}));
  const Var y = attention(x, ValidLens{3, 2});
  CHECK(y.shape() == x.shape());
  CHECK(tape.take_attention_weights().front().shape() == Shape{2, 8, 3, 3});
  CHECK(same(attention(x, x, x, ValidLens{3, 2}).value(), y.value()));
}

TEST_CASE("self-attention: num_heads must divide num_hiddens", "[layers]") {
  Random random(1);
  CHECK(
      message_of<ValueError>(
          [&] { SelfAttention({.num_hiddens = 512, .num_heads = 7}, random); }) ==
      "SelfAttention: expected num_hiddens > 0 divisible by num_heads > 0, got num_hiddens 512 and "
      "num_heads 7");
  CHECK(message_of<ValueError>([&] { SelfAttention({.num_heads = 8}, random); }) != "");
  CHECK(message_of<ValueError>(
            [&] { SelfAttention({.num_hiddens = 8, .num_heads = 0}, random); }) != "");
}
