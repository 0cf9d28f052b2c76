// Multi-head attention against PyTorch's and d2l.ai's. write_layers.py wrote the expected values.
#include <weft/layers/multi_head_attention.hpp>
#include "tests/catch.hpp"
#include "tests/golden/layer_case.hpp"

using namespace weft;

namespace {

struct Sizes {
  Index key = 6, value = 6;
};

template <class T>
void check_attention(const std::string& name, const Sizes& sizes, bool bias) {
  const golden::LayerCase<T> expected(name);
  Random random(1);
  MultiHeadAttention<T> layer({.query_size = 6,
                               .key_size = sizes.key,
                               .value_size = sizes.value,
                               .num_hiddens = 6,
                               .num_heads = 2,
                               .bias = bias},
                              random);
  Tensor<T> weights;
  expected.check(layer, {"queries", "keys", "values"}, [&](Tape<T>&, const auto& x) {
    const auto y = layer(x[0], x[1], x[2], expected.mask());
    weights = y.tape().take_attention_weights().front();
    return y;
  });
  expected.check("weights", weights);
}

}  // namespace

TEMPLATE_TEST_CASE("d2l.ai's multi-head attention", "[golden]", float, double) {
  const bool bias = GENERATE(false, true);
  const std::string lengths = GENERATE("lengths", "query_lengths");
  check_attention<TestType>("d2l_attention_" + lengths + (bias ? "_bias" : ""), {7, 5}, bias);
}

TEMPLATE_TEST_CASE("torch.nn.MultiheadAttention", "[golden][MultiHeadAttention]", float, double) {
  check_attention<TestType>("torch_attention_lengths", {}, true);
  check_attention<TestType>("torch_attention_no_bias", {}, false);
}

TEMPLATE_TEST_CASE("torch.nn.MultiheadAttention, boolean masks", "[golden]", float, double) {
  check_attention<TestType>("torch_attention_boolean", {}, true);
  check_attention<TestType>("torch_attention_boolean_by_head", {}, true);
}

TEMPLATE_TEST_CASE("torch.nn.MultiheadAttention, additive masks", "[golden]", float, double) {
  check_attention<TestType>("torch_attention_additive", {}, false);
  check_attention<TestType>("torch_attention_additive_by_head", {}, true);
  check_attention<TestType>("torch_attention_additive_and_lengths", {}, true);
}

TEMPLATE_TEST_CASE("torch.nn.MultiheadAttention, kdim and vdim", "[golden]", float, double) {
  check_attention<TestType>("torch_attention_sizes", {7, 5}, true);
  check_attention<TestType>("torch_attention_sizes_boolean", {7, 5}, false);
  check_attention<TestType>("torch_attention_sizes_additive", {7, 5}, true);
}

TEMPLATE_TEST_CASE("multi-head attention with rotary embeddings", "[golden]", float, double) {
  for (const auto& [name, pairs] :
       {std::pair("interleaved", RotaryPairs::interleaved), {"halves", RotaryPairs::halves}}) {
    const golden::LayerCase<TestType> expected(str_cat("rotary_attention_", name));
    Random random(1);
    MultiHeadAttention<TestType> layer({.query_size = 8,
                                        .key_size = 8,
                                        .value_size = 8,
                                        .num_hiddens = 8,
                                        .num_heads = 2,
                                        .rotary = RotaryOptions{.pairs = pairs}},
                                       random);
    Tensor<TestType> weights;
    expected.check(layer, {"x"}, [&](auto&, const auto& x) {
      const auto y = layer(x[0], x[0], x[0], {.causal = true});
      weights = y.tape().take_attention_weights().front();
      return y;
    });
    expected.check("weights", weights);
  }
}
