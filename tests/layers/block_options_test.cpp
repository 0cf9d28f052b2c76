// The options of transformer blocks that models in use have.
#include <weft/layers.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/golden/torch_row.hpp"
#include "tests/layers/check_gradients.hpp"
#include "tests/layers/scorings.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

TransformerOptions torch_options(bool norm_first = false) {
  return {.num_hiddens = 6,
          .ffn_num_hiddens = 8,
          .num_heads = 2,
          .activation = Activation::gelu,
          .norm_first = norm_first,
          .attention_bias = true};
}

TransformerOptions llama_options() {
  return {.num_hiddens = 8,
          .ffn_num_hiddens = 12,
          .num_heads = 4,
          .norm_first = true,
          .attention_bias = true,
          .num_kv_heads = 2,
          .swiglu = true,
          .ffn_bias = false,
          .norm = Norm::rms_norm,
          .norm_eps = 1e-6};
}

template <class T>
TransformerEncoder<T> encoder_of(TransformerOptions options, std::optional<bool> final_norm) {
  Random random(1);
  options.num_blocks = 2;
  options.final_norm = final_norm;
  return {options, random};
}

}  // namespace

TEMPLATE_TEST_CASE("torch.nn.TransformerEncoderLayer with BERT's eps", "[golden]", float, double) {
  Random random(1);
  TransformerOptions options = torch_options();
  options.norm_eps = 1e-12;
  TransformerEncoderBlock<TestType> block(options, random);
  golden::compare_with_torch<TestType>(
      "torch.nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0, activation='gelu', "
      "layer_norm_eps=1e-12, batch_first=True)",
      {{2, 5, 6}}, block, [&](const auto& x) { return block(x[0]); });
}

TEMPLATE_TEST_CASE("torch.nn.TransformerEncoderLayer without biases", "[golden]", float, double) {
  Random random(1);
  TransformerOptions options = torch_options(true);
  options.attention_bias = options.ffn_bias = options.norm_bias = false;
  TransformerEncoderBlock<TestType> block(options, random);
  golden::compare_with_torch<TestType>(
      "torch.nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0, activation='gelu', norm_first=True, "
      "batch_first=True, bias=False)",
      {{2, 5, 6}}, block, [&](const auto& x) { return block(x[0]); });
}

TEMPLATE_TEST_CASE("torch.nn.TransformerEncoder with a norm after post-norm blocks", "[golden]",
                   float, double) {
  auto encoder = encoder_of<TestType>(torch_options(), true);
  golden::compare_with_torch<TestType>(
      "torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0, "
      "activation='gelu', batch_first=True), 2, norm=torch.nn.LayerNorm(6), "
      "enable_nested_tensor=False)",
      {{2, 5, 6}}, encoder, [&](const auto& x) { return encoder(x[0]); });
}

TEMPLATE_TEST_CASE("torch.nn.TransformerEncoder without a norm after pre-norm blocks", "[golden]",
                   float, double) {
  auto encoder = encoder_of<TestType>(torch_options(true), false);
  golden::compare_with_torch<TestType>(
      "torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0, "
      "activation='gelu', norm_first=True, batch_first=True), 2, enable_nested_tensor=False)",
      {{2, 5, 6}}, encoder, [&](const auto& x) { return encoder(x[0]); });
}

TEMPLATE_TEST_CASE("torch.nn.TransformerDecoderLayer with padded targets", "[golden]", float,
                   double) {
  Random random(1);
  TransformerDecoderBlock<TestType> block(torch_options(), random);
  golden::compare_with_torch<TestType>(
      "PaddedDecoderLayer(6, 2, 8, dropout=0.0, activation='gelu', batch_first=True)",
      {{2, 4, 6}, {2, 5, 6}}, block, [&](const auto& x) {
        return block(x[0], x[1], ValidLens{2, 5}, ValidLens{3, 4});
      });
}

TEMPLATE_TEST_CASE("blocks of torch's RMSNorm, grouped-query attention and SwiGLU", "[golden]",
                   float, double) {
  Random random(1);
  TransformerEncoderBlock<TestType> scaled(llama_options(), random);
  golden::compare_with_torch<TestType>("LlamaBlock(2)", {{2, 5, 8}}, scaled, [&](const auto& x) {
    return scaled(x[0], {.causal = true});
  });
  TransformerOptions options = llama_options();
  options.scoring = Scoring::dot_product;
  options.num_kv_heads = 1;
  TransformerEncoderBlock<TestType> plain(options, random);
  golden::compare_with_torch<TestType>(
      "LlamaBlock(1, scale=1.0)", {{2, 5, 8}}, plain,
      [&](const auto& x) { return plain(x[0], {.causal = true}); });
}

TEST_CASE("gradients: blocks with other norms, feed-forward networks and scores",
          "[layers][gradients][TransformerEncoderBlock][TransformerDecoderBlock]") {
  Random random(1);
  TransformerOptions options = llama_options();
  options.dropout = 0.2;
  options.norm_first = GENERATE(false, true);
  options.scoring = GENERATE(Scoring::scaled_dot_product, Scoring::additive);
  TransformerEncoderBlock<double> encoder(options, random);
  check_gradients(encoder, {{2, 3, 8}}, [&](Tape<double>&, const Vars& x) {
    return encoder(x[0], ValidLens{3, 1});
  });
  TransformerDecoderBlock<double> decoder(options, random);
  check_gradients(decoder, {{2, 3, 8}, {2, 4, 8}}, [&](Tape<double>&, const Vars& x) {
    return decoder(x[0], x[1], ValidLens{4, 2}, ValidLens{2, 3});
  });
  options.norm = Norm::layer_norm;
  options.norm_bias = false;
  options.swiglu = false;
  TransformerEncoderBlock<double> biasless(options, random);
  check_gradients(biasless, {{2, 3, 8}},
                  [&](Tape<double>&, const Vars& x) { return biasless(x[0]); });
}

TEST_CASE("gradients: layer norm without bias", "[layers][gradients][LayerNorm]") {
  LayerNorm<double> layer({.num_hiddens = 5, .bias = false});
  check_gradients(layer, {{2, 3, 5}}, [&](Tape<double>&, const Vars& x) { return layer(x[0]); });
}

TEMPLATE_TEST_CASE("torch.nn.LayerNorm without bias", "[golden][LayerNorm]", float, double) {
  LayerNorm<TestType> layer({.num_hiddens = 6, .bias = false});
  golden::compare_with_torch<TestType>("torch.nn.LayerNorm(6, bias=False)", {{2, 3, 6}}, layer,
                                       [&](const auto& x) { return layer(x[0]); });
}

TEST_CASE("block options: names and text are those of the chosen layers", "[layers]") {
  Random random(1);
  TransformerEncoderBlock<float> block(llama_options(), random);
  std::vector<std::string> names;
  for (const auto& [name, parameter] : named_parameters<float>(block)) names.push_back(name);
  CHECK(names == std::vector<std::string>{
                     "attention.W_q.weight", "attention.W_q.bias", "attention.W_k.weight",
                     "attention.W_k.bias", "attention.W_v.weight", "attention.W_v.bias",
                     "attention.W_o.weight", "attention.W_o.bias", "norm1.weight", "ffn.w1.weight",
                     "ffn.w2.weight", "ffn.w3.weight", "norm2.weight"});
  const std::string text = str_cat(block);
  CHECK(contains(text, "(norm1): RMSNorm((8,), eps=1e-06, elementwise_affine=True)"));
  CHECK(contains(text, "(ffn): SwiGLU(\n"));
  CHECK(block.norm1.get_if<RMSNorm>() != nullptr);
  CHECK(block.norm1.get_if<LayerNorm>() == nullptr);
  CHECK(str_cat(LayerNorm<float>({.num_hiddens = 2, .bias = false})) ==
        "LayerNorm((2,), eps=1e-05, elementwise_affine=True, bias=False)");
}

TEST_CASE("block options: a final norm is there when asked for, or with norm_first", "[layers]") {
  for (const bool norm_first : {false, true}) {
    CHECK(encoder_of<float>(torch_options(norm_first), {}).norm.has_value() == norm_first);
    CHECK(encoder_of<float>(torch_options(norm_first), true).norm.has_value());
    CHECK_FALSE(encoder_of<float>(torch_options(norm_first), false).norm.has_value());
  }
}

TEST_CASE("block options: recomputed decoders use both masks", "[layers]") {
  const auto run = [](bool recompute) {
    Random random(1);
    TransformerOptions options = torch_options();
    options.num_blocks = 2;
    options.recompute = recompute;
    const TransformerDecoder<double> decoder(options, random);
    Parameter<double> x(random.normal_tensor<double>({2, 4, 6}));
    Tape<double> tape;
    const Var<double> memory = tape.constant(random.normal_tensor<double>({2, 5, 6}));
    const Var<double> y = decoder(tape.parameter(x), memory, ValidLens{2, 5}, ValidLens{3, 1});
    tape.backward(y, Tensor<double>::full(y.shape(), 1.0));
    return std::pair(y.value(), x.grad());
  };
  const auto stored = run(false), recomputed = run(true);
  CHECK(same(recomputed.first, stored.first));
  CHECK(distance(recomputed.second, stored.second) < 1e-12);
}

TEST_CASE("block options: values outside their ranges throw", "[layers]") {
  Random random(1);
  TransformerOptions options = torch_options();
  options.norm_eps = -1;
  CHECK(message_of<ValueError>([&] { TransformerEncoderBlock<float>(options, random); }) ==
        "LayerNorm: eps: expected a value ≥ 0, got -1");
  options = torch_options();
  options.norm = static_cast<Norm>(7);
  CHECK(message_of<ValueError>([&] { TransformerEncoderBlock<float>(options, random); }) ==
        "norm: expected a value of the enumeration, got 7");
  options = torch_options();
  options.num_kv_heads = 5;
  CHECK(message_of<ValueError>([&] { TransformerDecoderBlock<float>(options, random); }) ==
        "MultiHeadAttention: num_kv_heads: expected a positive divisor of num_heads 2, got 5");
  const TransformerDecoderBlock<float> block(torch_options(), random);
  Tape tape;
  const Var x = tape.constant(Tensor<float>({1, 3, 6}));
  CHECK(message_of<ValueError>([&] { block(x, x, {}, ValidLens{4}); }) ==
        "MultiHeadAttention: valid_lens: expected lengths from 0 to 3, got 4");
}
