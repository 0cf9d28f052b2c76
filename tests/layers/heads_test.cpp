#include <cmath>

#include <weft/layers.hpp>
#include <weft/layers/heads.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

using namespace weft;

TEST_CASE("heads: moved to the batch axis and back", "[layers]") {
  Tape<double> tape;
  // Two positions, two heads of two columns each.
  const auto x = tape.constant(Tensor<double>({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
  const auto heads = transpose_qkv(x, 2);
  CHECK(same(heads.value(), Tensor<double>({2, 2, 2}, {1, 2, 5, 6, 3, 4, 7, 8})));
  CHECK(same(transpose_output(heads, 2).value(), x.value()));

  Random random(1);
  const auto y = tape.constant(random.normal_tensor<double>({3, 5, 6}));
  CHECK(transpose_qkv(y, 3).shape() == Shape{9, 5, 2});
  CHECK(same(transpose_output(transpose_qkv(y, 3), 3).value(), y.value()));
}

TEST_CASE("heads: attention of transposed heads equals multi-head attention", "[layers]") {
  Random random(2);
  Parameter<double> q(random.normal_tensor<double>({2, 4, 6}));
  Parameter<double> k(random.normal_tensor<double>({2, 5, 6}));
  Parameter<double> v(random.normal_tensor<double>({2, 5, 6}));
  const auto run = [&](const auto& attend) {
    Tape<double> tape;
    const Var<double> y = attend(tape.parameter(q), tape.parameter(k), tape.parameter(v));
    std::vector<Tensor<double>> results{y.value()};
    tape.backward(y, Random(3).normal_tensor<double>(y.shape()));
    for (Parameter<double>* input : {&q, &k, &v}) {
      results.push_back(input->grad().clone());
      input->zero_grad();
    }
    return results;
  };
  const auto fused = run([](const auto&... x) {
    return scaled_dot_product_attention(x..., {.num_heads = 3, .mask = {.valid_lens = {3, 2}}});
  });
  const auto by_heads = run([](const auto&... x) {
    // Three heads per sequence, with the length of their sequence.
    return transpose_output(
        scaled_dot_product_attention(transpose_qkv(x, 3)...,
                                     {.mask = {.valid_lens = {3, 3, 3, 2, 2, 2}}}),
        3);
  });
  for (std::size_t i = 0; i < fused.size(); ++i) CHECK(distance(by_heads[i], fused[i]) < 1e-14);
}

TEST_CASE("heads: fused and composed attention are equal for every mask", "[layers]") {
  Random random(4);
  Parameter<double> q(random.normal_tensor<double>({2, 4, 6}));
  Parameter<double> k(random.normal_tensor<double>({2, 5, 6}));
  Parameter<double> v(random.normal_tensor<double>({2, 5, 6}));
  const AttentionPooling<double> fused({.num_heads = 3}, random);
  // Queries are divided by √2, the root of their size, before scoring.
  const AttentionPooling<double> by_heads({.scoring = Scoring::dot_product, .num_heads = 3},
                                          random);
  Tensor<bool> allowed({2, 3, 4, 5});
  for (bool& value : allowed) value = random.uniform() < 0.5;
  const Mask masks[] = {{},
                        ValidLens{3, 0},
                        ValidLens(Tensor<std::int32_t>({2, 4}, {1, 5, 0, 2, 3, 3, 4, 1})),
                        {.causal = true},
                        {.allowed = allowed},
                        {.bias = random.normal_tensor<float>({2, 4, 5})}};
  for (const Mask& mask : masks) {
    const auto run = [&](const AttentionPooling<double>& attention, double factor) {
      Tape<double> tape({.keep_attention_weights = true});
      const Var y =
          attention(scale(tape.parameter(q), factor), tape.parameter(k), tape.parameter(v), mask);
      std::vector<Tensor<double>> results{y.value(), tape.take_attention_weights().front()};
      tape.backward(y, Random(3).normal_tensor<double>(y.shape()));
      for (Parameter<double>* input : {&q, &k, &v}) {
        results.push_back(input->grad().clone());
        input->zero_grad();
      }
      return results;
    };
    const auto expected = run(fused, 1.0), got = run(by_heads, 1.0 / std::sqrt(2.0));
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(distance(got[i], expected[i]) < 1e-14);
  }
}

TEST_CASE("transpose_qkv and transpose_output: more heads than a shape can have throw",
          "[layers]") {
  constexpr Index huge = Index{1} << 40;
  Tape<float> tape;
  CHECK_THROWS_AS(transpose_qkv(tape.constant(Tensor<float>({huge, 1, 0})), huge), ShapeError);
  CHECK_THROWS_AS(transpose_output(tape.constant(Tensor<float>({0, 1, huge})), huge), ShapeError);
}

TEST_CASE("heads: num_heads that does not divide the axis throws", "[layers]") {
  Tape<float> tape;
  const auto x = tape.constant(Tensor<float>({2, 3, 4}));
  CHECK(message_of<ValueError>([&] { transpose_qkv(x, 3); }) ==
        "transpose_qkv: num_heads: expected a positive divisor of 4, got 3");
  CHECK(message_of<ValueError>([&] { transpose_output(x, 0); }) ==
        "transpose_output: num_heads: expected a positive divisor of 2, got 0");
  CHECK(message_of<ShapeError>([&] {
          transpose_qkv(tape.constant(Tensor<float>({2, 3})), 1);
        }) == "transpose_qkv: expected an input with three axes, got [2, 3]");
}
