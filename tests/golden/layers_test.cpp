// Small layers against PyTorch's. write_layers.py wrote the expected values.
#include <weft/layers.hpp>
#include "tests/catch.hpp"
#include "tests/golden/layer_case.hpp"

using namespace weft;
using golden::LayerCase;

namespace {

constexpr Index hiddens = 6;

}  // namespace

TEMPLATE_TEST_CASE("torch.nn.LayerNorm", "[golden][LayerNorm]", float, double) {
  for (const auto& [name, eps] : {std::pair("layer_norm", 1e-5), {"layer_norm_large_eps", 1e-2}}) {
    LayerNorm<TestType> layer({.num_hiddens = hiddens, .eps = eps});
    LayerCase<TestType>(name).check(layer, {"x"},
                                    [&](auto&, const auto& x) { return layer(x[0]); });
  }
}

TEMPLATE_TEST_CASE("torch.nn.Linear", "[golden][Linear]", float, double) {
  for (const auto& [name, bias] : {std::pair("linear", false), {"linear_bias", true}}) {
    Random random(1);
    Linear<TestType> layer({.in_features = hiddens, .out_features = 8, .bias = bias}, random);
    LayerCase<TestType>(name).check(layer, {"x"},
                                    [&](auto&, const auto& x) { return layer(x[0]); });
  }
}

TEMPLATE_TEST_CASE("torch.nn.Embedding, with repeated tokens", "[golden][Embedding]", float,
                   double) {
  Random random(1);
  Embedding<TestType> layer({.num_embeddings = 6, .embedding_dim = hiddens}, random);
  const LayerCase<TestType> expected("embedding");
  expected.check(layer, {},
                 [&](auto& tape, const auto&) { return layer(tape, expected.integers("tokens")); });
}
