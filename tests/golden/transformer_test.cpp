// Transformers against PyTorch's and d2l.ai's. write_layers.py wrote the expected values.
#include <cmath>

#include <weft/layers.hpp>
#include "tests/catch.hpp"
#include "tests/golden/layer_case.hpp"

using namespace weft;
using golden::LayerCase;

namespace {

constexpr Index vocabulary = 7, hiddens = 6;
constexpr TokenId padding = 0;
const double embedding_scale = std::sqrt(static_cast<double>(hiddens));

TransformerOptions block_options(bool norm_first, Activation activation, bool bias = true) {
  return {.num_blocks = 2,
          .num_hiddens = hiddens,
          .ffn_num_hiddens = 8,
          .num_heads = 2,
          .activation = activation,
          .norm_first = norm_first,
          .attention_bias = bias};
}

std::string block_name(bool norm_first, Activation activation) {
  return (norm_first ? "pre_norm_" : "post_norm_") + to_string(activation);
}

// Matches EncoderDecoder in write_layers.py.
template <class T>
struct TorchEncoderDecoder : Module<T> {
  explicit TorchEncoderDecoder(Random& random)
      : source_embedding({vocabulary, hiddens}, random),
        target_embedding({vocabulary, hiddens}, random),
        encoder(block_options(true, Activation::relu), random),
        decoder(block_options(true, Activation::relu), random),
        output({.in_features = hiddens, .out_features = vocabulary}, random) {}

  void members(Members<T>& members) const override {
    members("source_embedding", source_embedding);
    members("target_embedding", target_embedding);
    members("encoder", encoder);
    members("decoder", decoder);
    members("output", output);
  }

  Embedding<T> source_embedding, target_embedding;
  TransformerEncoder<T> encoder;
  TransformerDecoder<T> decoder;
  Linear<T> output;
};

// The common part of d2l.ai's TransformerEncoder and TransformerDecoder. Matches D2lStack in
// write_layers.py.
template <class T, class Blocks>
struct D2lStack : Module<T> {
  explicit D2lStack(Random& random)
      : embedding({vocabulary, hiddens}, random),
        position({.num_hiddens = hiddens}),
        blks(block_options(false, Activation::relu, false), random) {}

  Var<T> embed(Tape<T>& tape, const Tokens& tokens) const {
    return position(scale(embedding(tape, tokens), embedding_scale));
  }

  void members(Members<T>& members) const override {
    members("embedding", embedding);
    members("blks", blks);
    members("dense", dense);
  }

  Embedding<T> embedding;
  PositionalEncoding<T> position;
  Blocks blks;
  std::optional<Linear<T>> dense;
};

template <class T>
struct D2lTransformer : Module<T> {
  explicit D2lTransformer(Random& random) : encoder(random), decoder(random) {
    decoder.dense.emplace(LinearOptions{hiddens, vocabulary}, random);
  }

  void members(Members<T>& members) const override {
    members("encoder", encoder);
    members("decoder", decoder);
  }

  D2lStack<T, TransformerEncoder<T>> encoder;
  D2lStack<T, TransformerDecoder<T>> decoder;
};

}  // namespace

TEMPLATE_TEST_CASE("torch.nn.TransformerEncoderLayer", "[golden][TransformerEncoderBlock]", float,
                   double) {
  const bool norm_first = GENERATE(false, true);
  const Activation activation = GENERATE(Activation::relu, Activation::gelu);
  const LayerCase<TestType> expected("encoder_block_" + block_name(norm_first, activation));
  Random random(1);
  TransformerEncoderBlock<TestType> block(block_options(norm_first, activation), random);
  expected.check(block, {"x"}, [&](auto&, const auto& x) { return block(x[0], expected.mask()); });
}

TEMPLATE_TEST_CASE("torch.nn.TransformerEncoderLayer, causal and padded", "[golden]", float,
                   double) {
  const LayerCase<TestType> expected("encoder_block_causal");
  Random random(1);
  TransformerEncoderBlock<TestType> block(block_options(true, Activation::gelu), random);
  Mask mask = expected.mask();
  mask.causal = true;
  expected.check(block, {"x"}, [&](auto&, const auto& x) { return block(x[0], mask); });
}

TEMPLATE_TEST_CASE("torch.nn.TransformerEncoderLayer, additive mask", "[golden]", float, double) {
  const LayerCase<TestType> expected("encoder_block_additive");
  Random random(1);
  TransformerEncoderBlock<TestType> block(block_options(false, Activation::gelu), random);
  expected.check(block, {"x"}, [&](auto&, const auto& x) { return block(x[0], expected.mask()); });
}

TEMPLATE_TEST_CASE("torch.nn.TransformerDecoderLayer", "[golden][TransformerDecoderBlock]", float,
                   double) {
  const bool norm_first = GENERATE(false, true);
  const Activation activation = GENERATE(Activation::relu, Activation::gelu);
  const LayerCase<TestType> expected("decoder_block_" + block_name(norm_first, activation));
  Random random(1);
  TransformerDecoderBlock<TestType> block(block_options(norm_first, activation), random);
  expected.check(block, {"x", "memory"},
                 [&](auto&, const auto& x) { return block(x[0], x[1], expected.mask()); });
}

TEMPLATE_TEST_CASE("torch's encoder and decoder of two blocks each, up to the loss",
                   "[golden][TransformerEncoder][TransformerDecoder]", float, double) {
  const LayerCase<TestType> expected("torch_encoder_decoder");
  Random random(1);
  TorchEncoderDecoder<TestType> model(random);
  const Tokens target = expected.integers("target");
  expected.check(model, {}, [&](auto& tape, const auto&) {
    const auto embed = [&tape = tape](const auto& embedding, const Tokens& tokens) {
      return scale(embedding(tape, tokens), embedding_scale);
    };
    const auto memory =
        model.encoder(embed(model.source_embedding, expected.integers("source")), expected.mask());
    const auto logits =
        model.output(model.decoder(embed(model.target_embedding, target), memory, expected.mask()));
    Tensor<bool> not_padding(target.shape().inserted(2, 1));
    std::transform(target.begin(), target.end(), not_padding.begin(),
                   [](TokenId token) { return token != padding; });
    expected.check("logits", where(not_padding, logits, 0.0).value());
    return cross_entropy(logits, expected.integers("labels"), {.ignore_index = padding});
  });
}

TEMPLATE_TEST_CASE("d2l.ai's encoder and decoder of two blocks each", "[golden]", float, double) {
  const LayerCase<TestType> expected("d2l_encoder_decoder");
  Random random(1);
  D2lTransformer<TestType> model(random);
  expected.check(model, {}, [&](auto& tape, const auto&) {
    const auto& [encoder, decoder] = std::tie(model.encoder, model.decoder);
    const auto memory =
        encoder.blks(encoder.embed(tape, expected.integers("source")), expected.mask());
    return (*decoder.dense)(
        decoder.blks(decoder.embed(tape, expected.integers("target")), memory, expected.mask()));
  });
}
