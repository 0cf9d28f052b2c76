// Every layer's gradients against central differences, of its parameters and of its inputs.
#include <limits>

#include <weft/layers.hpp>
#include "tests/catch.hpp"
#include "tests/layers/check_gradients.hpp"
#include "tests/layers/scorings.hpp"

using namespace weft;

namespace {

TransformerOptions block_options(Activation activation, bool norm_first) {
  return {.num_blocks = 2,
          .num_hiddens = 4,
          .ffn_num_hiddens = 6,
          .num_heads = 2,
          .dropout = 0.2,
          .activation = activation,
          .norm_first = norm_first,
          .attention_bias = true};
}

}  // namespace

TEST_CASE("gradients: linear", "[layers][gradients][Linear]") {
  Random random(1);
  const bool bias = GENERATE(false, true);
  Linear<double> layer({.in_features = 3, .out_features = 4, .bias = bias}, random);
  for (const auto& [activation, name] : activation_names)
    check_gradients(layer, {{2, 3, 3}}, [&, function = activation](Tape<double>&, const Vars& x) {
      return layer(x[0], function);
    });
}

TEST_CASE("gradients: dropout", "[layers][gradients][Dropout]") {
  Dropout<double> layer(0.4);
  check_gradients(layer, {{3, 5}}, [&](Tape<double>&, const Vars& x) { return layer(x[0]); });
}

TEST_CASE("gradients: embedding", "[layers][gradients][Embedding]") {
  Random random(1);
  Embedding<double> layer({.num_embeddings = 5, .embedding_dim = 3}, random);
  const Tokens tokens({2, 3}, {4, 0, 4, 1, 4, 2});
  check_gradients(layer, {}, [&](Tape<double>& tape, const Vars&) { return layer(tape, tokens); });
}

TEST_CASE("gradients: layer norm", "[layers][gradients][LayerNorm]") {
  LayerNorm<double> layer({.num_hiddens = 5});
  check_gradients(layer, {{2, 3, 5}}, [&](Tape<double>&, const Vars& x) { return layer(x[0]); });
}

TEST_CASE("gradients: batch norm", "[layers][gradients][BatchNorm]") {
  BatchNorm<double> layer({.num_features = 5});
  check_gradients(layer, {{2, 3, 5}}, [&](Tape<double>&, const Vars& x) { return layer(x[0]); });
  Tensor<bool> mask = Tensor<bool>::full({2, 3}, true);
  mask(1, 2) = false;
  check_gradients(layer, {{2, 3, 5}},
                  [&](Tape<double>&, const Vars& x) { return layer(x[0], mask); });
}

TEST_CASE("gradients: positional encoding", "[layers][gradients][PositionalEncoding]") {
  PositionalEncoding<double> layer({.num_hiddens = 5, .dropout = 0.3, .max_len = 6});
  check_gradients(layer, {{2, 3, 5}}, [&](Tape<double>&, const Vars& x) { return layer(x[0]); });
}

TEST_CASE("gradients: attention pooling with each scoring function",
          "[layers][gradients][AttentionPooling]") {
  Random random(1);
  const Scoring scoring = GENERATE(from_range(scorings));
  AttentionPooling<double> layer({.scoring = scoring,
                                  .dropout = 0.3,
                                  .num_heads = 2,
                                  .additive = {.query_size = 2, .key_size = 2, .num_hiddens = 3}},
                                 random);
  Tensor<float> bias_mask = random.normal_tensor<float>({1, 3, 5});
  bias_mask(0, 1, 2) = -std::numeric_limits<float>::infinity();
  for (const Mask& mask : {Mask(ValidLens{4, 0}), Mask{.causal = true, .bias = bias_mask}})
    check_gradients(layer, {{2, 3, 4}, {2, 5, 4}, {2, 5, 6}},
                    [&](Tape<double>&, const Vars& x) { return layer(x[0], x[1], x[2], mask); });
}

TEST_CASE("gradients: dot-product attention", "[layers][gradients][DotProductAttention]") {
  DotProductAttention<double> layer({.dropout = 0.3, .num_heads = 2});
  check_gradients(layer, {{2, 3, 4}, {2, 5, 4}, {2, 5, 6}}, [&](Tape<double>&, const Vars& x) {
    return layer(x[0], x[1], x[2], ValidLens{4, 0});
  });
}

TEST_CASE("gradients: additive scoring of queries and keys of different sizes",
          "[layers][gradients][AdditiveScoring]") {
  Random random(1);
  AdditiveScoring<double> layer({.query_size = 2, .key_size = 4, .num_hiddens = 3}, random);
  check_gradients(layer, {{2, 3, 2}, {2, 5, 4}},
                  [&](Tape<double>&, const Vars& x) { return layer(x[0], x[1]); });
}

TEST_CASE("gradients: kernel regression", "[layers][gradients][KernelRegression]") {
  for (const Kernel kernel : {Kernel::gaussian, Kernel::epanechnikov, Kernel::triangular}) {
    INFO(to_string(kernel));
    KernelRegression<double> layer({.kernel = kernel, .w = 0.7});
    Tensor<bool> allowed = Tensor<bool>::full({4, 6}, true);
    allowed(1, 2) = false;
    check_gradients(layer, {{4}, {6}, {6}},
                    [&](Tape<double>&, const Vars& x) { return layer(x[0], x[1], x[2], allowed); });
  }
}

TEST_CASE(
    "gradients: kernel regression with a piecewise constant kernel depends on the values only",
    "[layers][gradients][KernelRegression]") {
  for (const Kernel kernel : {Kernel::constant, Kernel::boxcar}) {
    INFO(to_string(kernel));
    KernelRegression<double> layer({.kernel = kernel, .w = 0.7});
    Random random(7);
    Parameter<double> queries(random.normal_tensor<double>({4})),
        keys(random.normal_tensor<double>({6})), values(random.normal_tensor<double>({6}));
    const auto function = [&](Tape<double>& tape) {
      return layer(tape.parameter(queries), tape.parameter(keys), tape.parameter(values));
    };
    CHECK(gradcheck(function, {{"values", &values}}, tight_bound).passed());
    for (Parameter<double>* parameter : {&queries, &keys, &layer.w}) {
      const GradCheckReport report = gradcheck(function, {{"parameter", parameter}}, tight_bound);
      CHECK_FALSE(report.entries[0].reached);
      CHECK(report.entries[0].failed == 0);
    }
  }
}

TEST_CASE("gradients: multi-head attention", "[layers][gradients][MultiHeadAttention]") {
  Random random(1);
  const bool bias = GENERATE(false, true);
  const Scoring scoring = GENERATE(from_range(scorings));
  MultiHeadAttention<double> layer({.query_size = 3,
                                    .key_size = 5,
                                    .value_size = 4,
                                    .num_hiddens = 6,
                                    .num_heads = 2,
                                    .scoring = scoring,
                                    .dropout = 0.3,
                                    .bias = bias},
                                   random);
  const ValidLens by_query(Tensor<std::int32_t>({2, 3}, {4, 1, 3, 0, 2, 4}));
  for (const Mask& mask : {Mask{}, Mask(ValidLens{3, 2}), Mask(by_query), Mask{.causal = true}})
    check_gradients(layer, {{2, 3, 3}, {2, 4, 5}, {2, 4, 4}},
                    [&](Tape<double>&, const Vars& x) { return layer(x[0], x[1], x[2], mask); });
}

TEST_CASE("gradients: self-attention", "[layers][gradients][SelfAttention]") {
  Random random(1);
  SelfAttention<double> layer({.num_hiddens = 4, .num_heads = 2, .bias = true}, random);
  check_gradients(layer, {{2, 3, 4}},
                  [&](Tape<double>&, const Vars& x) { return layer(x[0], {.causal = true}); });
}

TEST_CASE("gradients: feed-forward", "[layers][gradients][PositionWiseFeedForward]") {
  Random random(1);
  PositionWiseFeedForward<double> layer(
      {.num_hiddens = 3, .ffn_num_hiddens = 5, .activation = Activation::gelu, .dropout = 0.3},
      random);
  check_gradients(layer, {{2, 4, 3}}, [&](Tape<double>&, const Vars& x) { return layer(x[0]); });
}

TEST_CASE("gradients: encoder block", "[layers][gradients][TransformerEncoderBlock]") {
  Random random(1);
  const bool norm_first = GENERATE(false, true);
  const Activation activation = GENERATE(Activation::relu, Activation::gelu);
  TransformerEncoderBlock<double> block(block_options(activation, norm_first), random);
  check_gradients(block, {{2, 3, 4}}, [&](Tape<double>&, const Vars& x) {
    return block(x[0], ValidLens{3, 2});
  });
}

TEST_CASE("gradients: decoder block", "[layers][gradients][TransformerDecoderBlock]") {
  Random random(1);
  const bool norm_first = GENERATE(false, true);
  const Activation activation = GENERATE(Activation::relu, Activation::gelu);
  TransformerDecoderBlock<double> block(block_options(activation, norm_first), random);
  check_gradients(block, {{2, 3, 4}, {2, 4, 4}}, [&](Tape<double>&, const Vars& x) {
    return block(x[0], x[1], ValidLens{4, 2});
  });
}

TEST_CASE("gradients: encoder and decoder",
          "[layers][gradients][TransformerEncoder][TransformerDecoder]") {
  Random random(1);
  struct Model : Module<double> {
    Model(const TransformerOptions& options, Random& random_numbers)
        : encoder(options, random_numbers), decoder(options, random_numbers) {}
    void members(Members<double>& members) const override {
      members("encoder", encoder);
      members("decoder", decoder);
    }
    TransformerEncoder<double> encoder;
    TransformerDecoder<double> decoder;
  } model(block_options(Activation::gelu, true), random);
  check_gradients(model, {{2, 4, 4}, {2, 3, 4}}, [&](Tape<double>&, const Vars& x) {
    const ValidLens lengths{4, 2};
    return model.decoder(x[1], model.encoder(x[0], lengths), lengths);
  });
}

TEST_CASE("gradients: heads and learned positions",
          "[layers][gradients][LearnedPositionalEncoding]") {
  Random random(1);
  LearnedPositionalEncoding<double> layer({.num_hiddens = 4, .dropout = 0.2, .max_len = 5}, random);
  check_gradients(layer, {{2, 3, 4}}, [&](Tape<double>&, const Vars& x) {
    return transpose_output(transpose_qkv(layer(x[0]), 2), 2);
  });
  check_gradients(layer, {{2, 3, 4}},
                  [&](Tape<double>&, const Vars& x) { return transpose_qkv(layer(x[0]), 2); });
}

TEMPLATE_TEST_CASE("gradients: recurrent layers", "[layers][gradients][RNN][GRU]", RNN<double>,
                   GRU<double>) {
  Random random(1);
  const bool bidirectional = GENERATE(false, true);
  const Index directions = bidirectional ? 2 : 1;
  TestType layer(
      {.input_size = 3, .num_hiddens = 4, .num_layers = 2, .bidirectional = bidirectional}, random);
  check_gradients(layer, {{3, 5, 3}, {2 * directions, 3, 4}}, [&](Tape<double>&, const Vars& x) {
    const auto result = layer(x[0], ValidLens{5, 0, 3}, x[1]);
    return concatenate(
        std::vector{reshape(result.states, {-1, 4}), reshape(result.final_states, {-1, 4})}, 0);
  });
  check_gradients(layer, {{2, 4, 3}},
                  [&](Tape<double>&, const Vars& x) { return layer(x[0]).final_states; });
}

TEST_CASE("gradients: LSTM", "[layers][gradients][LSTM]") {
  Random random(1);
  const bool bidirectional = GENERATE(false, true);
  const Index states = bidirectional ? 4 : 2;
  LSTM<double> layer(
      {.input_size = 3, .num_hiddens = 4, .num_layers = 2, .bidirectional = bidirectional}, random);
  check_gradients(
      layer, {{3, 5, 3}, {states, 3, 4}, {states, 3, 4}}, [&](Tape<double>&, const Vars& x) {
        const auto result = layer(x[0], ValidLens{5, 0, 3}, x[1], x[2]);
        return concatenate(
            std::vector{reshape(result.states, {-1, 4}), reshape(result.final_states, {-1, 4}),
                        reshape(result.final_cells, {-1, 4})},
            0);
      });
}

TEST_CASE("gradients: convolution in groups", "[layers]") {
  Random random(1);
  Conv1d<double> layer(
      {.in_channels = 4, .out_channels = 6, .kernel_size = 3, .padding = 1, .groups = 2}, random);
  check_gradients(layer, {{2, 6, 4}}, [&](Tape<double>&, const Vars& x) {
    return layer(x[0], ValidLens{2, 5});
  });
}

TEST_CASE("gradients: convolution", "[layers][gradients][Conv1d]") {
  Random random(1);
  Conv1d<double> layer({.in_channels = 3,
                        .out_channels = 2,
                        .kernel_size = 3,
                        .stride = 2,
                        .padding = 1,
                        .dilation = 2,
                        .bias = GENERATE(false, true)},
                       random);
  check_gradients(layer, {{2, 6, 3}}, [&](Tape<double>&, const Vars& x) { return layer(x[0]); });
  check_gradients(layer, {{2, 6, 3}}, [&](Tape<double>&, const Vars& x) {
    return layer(x[0], ValidLens{2, 5});
  });
}
