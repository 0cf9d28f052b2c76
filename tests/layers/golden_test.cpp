// Layers against PyTorch's: tests/golden/write_layers.py wrote what is expected.
#include "layers/layers.hpp"
#include "tests/layers/golden_case.hpp"

using namespace weft;

namespace {

template <class T>
void check_attention(const std::string& name, const MultiHeadAttentionOptions& options) {
  INFO(name);
  const GoldenCase<T> golden("multi_head_attention_" + name);
  Random random(1);
  MultiHeadAttention<T> layer(options, random);
  Tensor<T> weights;
  golden.check(layer, {"queries", "keys", "values"}, [&](Tape<T>&, const auto& x) {
    return layer(x[0], x[1], x[2], golden.valid_lens(), &weights);
  });
  CHECK(distance(weights, golden.expected("weights")) < tolerance<T>);
}

constexpr Index hiddens = 6;

TransformerBlockOptions block_options(bool norm_first, Activation activation) {
  return {.num_hiddens = hiddens,
          .ffn_num_hiddens = 8,
          .num_heads = 2,
          .activation = activation,
          .norm_first = norm_first,
          .attention_bias = true};
}

std::string block_name(bool norm_first, Activation activation) {
  return std::string(norm_first ? "pre" : "post") + "_norm_" + to_string(activation);
}

}  // namespace

TEMPLATE_TEST_CASE("golden: d2l.ai's multi-head attention", "[layers]", float, double) {
  const auto options = [](bool bias) {
    return MultiHeadAttentionOptions{.query_size = 6,
                                     .key_size = 7,
                                     .value_size = 5,
                                     .num_hiddens = hiddens,
                                     .num_heads = 2,
                                     .bias = bias};
  };
  check_attention<TestType>("lengths", options(false));
  check_attention<TestType>("query_lengths", options(false));
  check_attention<TestType>("bias", options(true));
}

TEMPLATE_TEST_CASE("golden: torch.nn.MultiheadAttention", "[layers]", float, double) {
  const auto options = [](Index key_size, Index value_size, bool bias) {
    return MultiHeadAttentionOptions{.query_size = hiddens,
                                     .key_size = key_size,
                                     .value_size = value_size,
                                     .num_hiddens = hiddens,
                                     .num_heads = 2,
                                     .bias = bias};
  };
  check_attention<TestType>("torch", options(hiddens, hiddens, true));
  check_attention<TestType>("torch_sizes", options(7, 5, false));
}

TEMPLATE_TEST_CASE("golden: torch.nn.TransformerEncoderLayer", "[layers]", float, double) {
  const bool norm_first = GENERATE(false, true);
  const Activation activation = GENERATE(Activation::relu, Activation::gelu);
  const GoldenCase<TestType> golden("encoder_block_" + block_name(norm_first, activation));
  Random random(1);
  TransformerEncoderBlock<TestType> block(block_options(norm_first, activation), random);
  golden.check(block, {"x"},
               [&](auto&, const auto& x) { return block(x[0], golden.valid_lens()); });
}

TEMPLATE_TEST_CASE("golden: torch.nn.TransformerEncoderLayer, causal", "[layers]", float, double) {
  const GoldenCase<TestType> golden("encoder_block_causal");
  Random random(1);
  TransformerEncoderBlock<TestType> block(block_options(true, Activation::gelu), random);
  golden.check(block, {"x"}, [&](auto&, const auto& x) { return block(x[0], {.causal = true}); });
}

TEMPLATE_TEST_CASE("golden: torch.nn.TransformerDecoderLayer", "[layers]", float, double) {
  const bool norm_first = GENERATE(false, true);
  const Activation activation = GENERATE(Activation::relu, Activation::gelu);
  const GoldenCase<TestType> golden("decoder_block_" + block_name(norm_first, activation));
  Random random(1);
  TransformerDecoderBlock<TestType> block(block_options(norm_first, activation), random);
  golden.check(block, {"x", "memory"},
               [&](auto&, const auto& x) { return block(x[0], x[1], golden.valid_lens()); });
}

TEMPLATE_TEST_CASE("golden: torch's encoder and decoder of two blocks each", "[layers]", float,
                   double) {
  struct Model : Module<TestType> {
    Model(const TransformerOptions& options, Random& random_numbers)
        : encoder(options, random_numbers), decoder(options, random_numbers) {}
    void members(Members<TestType>& members) override {
      members("encoder", encoder);
      members("decoder", decoder);
    }
    TransformerEncoder<TestType> encoder;
    TransformerDecoder<TestType> decoder;
  };
  Random random(1);
  Model model({.num_blocks = 2, .block = block_options(true, Activation::relu)}, random);
  const GoldenCase<TestType> golden("encoder_decoder");
  golden.check(model, {"source", "target"}, [&](auto&, const auto& x) {
    const auto memory = model.encoder(x[0], golden.valid_lens());
    return model.decoder(x[1], memory, golden.valid_lens());
  });
}

TEMPLATE_TEST_CASE("golden: torch.nn.LayerNorm", "[layers]", float, double) {
  LayerNorm<TestType> layer({.num_hiddens = hiddens});
  GoldenCase<TestType>("layer_norm").check(layer, {"x"}, [&](auto&, const auto& x) {
    return layer(x[0]);
  });
}

TEMPLATE_TEST_CASE("golden: torch.nn.Linear", "[layers]", float, double) {
  Random random(1);
  Linear<TestType> layer({.in_features = hiddens, .out_features = 8}, random);
  GoldenCase<TestType>("linear").check(layer, {"x"},
                                       [&](auto&, const auto& x) { return layer(x[0]); });
}

TEMPLATE_TEST_CASE("golden: torch.nn.Embedding", "[layers]", float, double) {
  Random random(1);
  Embedding<TestType> layer({.num_embeddings = 6, .embedding_dim = hiddens}, random);
  const GoldenCase<TestType> golden("embedding");
  golden.check(layer, {},
               [&](auto& tape, const auto&) { return layer(tape, golden.integers("tokens")); });
}

TEMPLATE_TEST_CASE("golden: positional encoding, even and odd", "[layers]", float, double) {
  const Hdf5File file(WEFT_TEST_DATA "/layers.h5");
  for (Index d : {6, 7}) {
    const PositionalEncoding<TestType> layer({.num_hiddens = d, .max_len = 50});
    const auto table = file.tensor<double>("/positional_encoding_" + std::to_string(d));
    CHECK(distance(layer.table(), table) < (std::is_same_v<TestType, double> ? 1e-14 : 6e-8));
  }
}
