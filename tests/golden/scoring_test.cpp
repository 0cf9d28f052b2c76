// Attention with each scoring function, kernel regression and self-attention. write_attention.py
// wrote the expected values.
#include <weft/layers.hpp>
#include "tests/catch.hpp"
#include "tests/golden/layer_case.hpp"
#include "tests/layers/scorings.hpp"

using namespace weft;

namespace {

template <class T>
golden::LayerCase<T> attention_case(const std::string& name) {
  return golden::LayerCase<T>(name, "attention.h5");
}

}  // namespace

TEMPLATE_TEST_CASE("attention with additive scoring", "[golden][AttentionPooling][AdditiveScoring]",
                   float, double) {
  const auto expected = attention_case<TestType>("additive_pooling");
  Random random(1);
  AttentionPooling<TestType> layer({.scoring = Scoring::additive,
                                    .additive = {.query_size = 3, .key_size = 4, .num_hiddens = 6}},
                                   random);
  Tensor<TestType> weights;
  expected.check(layer, {"queries", "keys", "values"}, [&](auto&, const auto& x) {
    const auto y = layer(x[0], x[1], x[2], expected.mask());
    weights = y.tape().take_attention_weights().front();
    return y;
  });
  expected.check("weights", weights);
}

TEMPLATE_TEST_CASE("multi-head attention with each scoring function", "[golden]", float, double) {
  // layers.h5 has scaled dot products; layers/scoring_test.cpp compares the functions that are in
  // neither file.
  const Hdf5File file(WEFT_TEST_DATA "/attention.h5");
  int compared = 0;
  for (const Scoring scoring : scorings) {
    const std::string name = "multi_head_attention_" + to_string(scoring);
    if (!file.has_group(name)) continue;
    ++compared;
    const auto expected = attention_case<TestType>(name);
    Random random(1);
    MultiHeadAttention<TestType> layer({.query_size = 6,
                                        .key_size = 7,
                                        .value_size = 5,
                                        .num_hiddens = 6,
                                        .num_heads = 2,
                                        .scoring = scoring},
                                       random);
    Tensor<TestType> weights;
    expected.check(layer, {"queries", "keys", "values"}, [&](auto&, const auto& x) {
      const auto y = layer(x[0], x[1], x[2], expected.mask());
      weights = y.tape().take_attention_weights().front();
      return y;
    });
    expected.check("weights", weights);
  }
  CHECK(compared == 4);
}

TEMPLATE_TEST_CASE("kernel regression with each kernel", "[golden][KernelRegression]", float,
                   double) {
  for (const Kernel kernel : {Kernel::constant, Kernel::gaussian, Kernel::boxcar,
                              Kernel::epanechnikov, Kernel::triangular}) {
    const auto expected = attention_case<TestType>("kernel_regression_" + to_string(kernel));
    KernelRegression<TestType> layer({.kernel = kernel});
    Tensor<TestType> weights;
    expected.check(layer, {"queries", "keys", "values"}, [&](auto&, const auto& x) {
      const auto y = layer(x[0], x[1], x[2]);
      weights = y.tape().take_attention_weights().front();
      return y;
    });
    expected.check("weights", weights.reshaped(expected.expected("weights").shape()));
  }
}

TEMPLATE_TEST_CASE("torch.nn.MultiheadAttention as self-attention", "[golden][SelfAttention]",
                   float, double) {
  const auto expected = attention_case<TestType>("self_attention");
  Random random(1);
  SelfAttention<TestType> layer({.num_hiddens = 8, .num_heads = 2, .bias = true}, random);
  Tensor<TestType> weights;
  expected.check(layer, {"x"}, [&](auto&, const auto& x) {
    const auto y = layer(x[0]);
    weights = y.tape().take_attention_weights().front();
    return y;
  });
  expected.check("weights", weights);
}
