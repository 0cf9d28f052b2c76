// Dropout inside of layers: equal to their definitions, with the masks written out.
#include <cmath>
#include <cstdint>

#include <weft/layers.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"

using namespace weft;

namespace {

constexpr std::uint64_t seed = 5;
constexpr std::uint32_t step = 3;
constexpr double p = 0.25;

using Variable = Var<double>;
using Vars = std::vector<Variable>;

// Dropout on a tape that does not train, with the masks that one that trains would use: the n-th
// call has the n-th random stream.
class Masks {
 public:
  Variable operator()(const Variable& x) {
    std::vector<std::uint16_t> numbers(static_cast<std::size_t>(x.size()));
    RandomStream{seed, step, calls_++}.fill(0, x.size(), numbers.data());
    Tensor<double> mask(x.shape());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      mask.data()[i] = numbers[i] >= std::lround(p * 65536.0) ? 1.0 / (1.0 - p) : 0.0;
    return x * x.tape().constant(mask);
  }

 private:
  std::uint32_t calls_ = 0;
};

// Checks that a layer on a training tape gives the result and the gradients of `definition`, both
// called with inputs of the shapes.
template <class Layer, class Call, class Definition>
void check_definition(Layer& layer, const std::vector<Shape>& shapes, const Call& call,
                      const Definition& definition) {
  std::vector<Parameter<double>> inputs;
  Random random(2);
  for (const Shape& shape : shapes) inputs.emplace_back(random.normal_tensor<double>(shape));
  const auto run = [&](bool training, const auto& function) {
    Tape<double> tape({.training = training, .seed = seed});
    tape.set_step(step);
    Vars x;
    for (Parameter<double>& input : inputs) {
      input.zero_grad();
      x.push_back(tape.parameter(input));
    }
    for (const auto& [name, parameter] : named_parameters(layer)) parameter->zero_grad();
    const Variable y = function(x);
    std::vector<Tensor<double>> results{y.value().clone()};
    tape.backward(y, Random(4).normal_tensor<double>(y.shape()));
    for (const Parameter<double>& input : inputs) results.push_back(input.grad().clone());
    for (const auto& [name, parameter] : named_parameters(layer))
      results.push_back(parameter->grad().clone());
    return results;
  };
  const auto actual = run(true, call);
  const auto expected = run(false, [&](const Vars& x) {
    Masks masks;
    return definition(masks, x);
  });
  const auto without = run(false, call);
  CHECK_FALSE(distance(without[0], expected[0]) < 0.01);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("result " << i << " of shape " << expected[i].shape());
    CHECK(distance(actual[i], expected[i], 1e-3) < 1e-10);
  }
}

// Softmax attention with dropped weights, of scores by definition.
Variable attend(Masks& masks, const AttentionPooling<double>& pooling, const Variable& queries,
                const Variable& keys, const Variable& values, const Mask& mask) {
  const Index heads = pooling.num_heads;
  const Variable q = transpose_qkv(queries, heads), k = transpose_qkv(keys, heads);
  const Variable scored = scores(pooling.scoring(), q, k);
  const Shape shape{queries.shape()[0], heads, queries.shape()[1], keys.shape()[1]};
  const Variable weights = masks(masked_softmax(reshape(scored, shape), mask));
  return transpose_output(matmul(reshape(weights, scored.shape()), transpose_qkv(values, heads)),
                          heads);
}

Variable attend(Masks& masks, const MultiHeadAttention<double>& layer, const Variable& queries,
                const Variable& keys, const Mask& mask = {}) {
  return layer.W_o(
      attend(masks, layer.attention, layer.W_q(queries), layer.W_k(keys), layer.W_v(keys), mask));
}

Variable feed_forward(Masks& masks, const PositionWiseFeedForward<double>& layer,
                      const Variable& x) {
  return layer.dense2(masks(layer.dense1(x, layer.activation)));
}

// A sublayer with its residual connection.
template <class Sublayer>
Variable residual(Masks& masks, const Variable& x, const BlockNorm<double>& norm, bool norm_first,
                  const Sublayer& sublayer) {
  if (norm_first) return x + masks(sublayer(norm(x)));
  return norm(x + masks(sublayer(x)));
}

TransformerOptions block_options(bool norm_first, bool recompute = false) {
  return {.num_blocks = 2,
          .num_hiddens = 6,
          .ffn_num_hiddens = 10,
          .num_heads = 2,
          .dropout = p,
          .norm_first = norm_first,
          .attention_bias = true,
          .recompute = recompute};
}

}  // namespace

TEST_CASE("dropout: in multi-head attention, of the weights of every head", "[layers]") {
  Random random(1);
  MultiHeadAttention<double> layer({.query_size = 6,
                                    .key_size = 6,
                                    .value_size = 6,
                                    .num_hiddens = 8,
                                    .num_heads = 2,
                                    .dropout = p},
                                   random);
  // Whole rows of weights in one tile, several tiles of queries and keys, and a causal mask.
  for (const auto& [queries, keys] : {std::pair<Index, Index>{5, 16}, {5, 7}, {270, 260}})
    for (const bool causal : {false, true}) {
      if (causal && queries > keys) continue;
      INFO(queries << " queries, " << keys << " keys, causal " << causal);
      const Mask mask{.causal = causal};
      check_definition(
          layer, {{2, queries, 6}, {2, keys, 6}},
          [&](const Vars& x) { return layer(x[0], x[1], x[1], mask); },
          [&](Masks& masks, const Vars& x) { return attend(masks, layer, x[0], x[1], mask); });
    }
}

TEST_CASE("dropout: in attention pooling, of the weights for every scoring function", "[layers]") {
  for (const Scoring scoring : {Scoring::scaled_dot_product, Scoring::dot_product,
                                Scoring::gaussian, Scoring::laplacian, Scoring::cosine}) {
    INFO(to_string(scoring));
    Random random(1);
    AttentionPooling<double> layer({.scoring = scoring, .dropout = p, .num_heads = 2}, random);
    const Mask mask{.valid_lens = {7, 3, 4}};
    check_definition(
        layer, {{3, 5, 8}, {3, 7, 8}, {3, 7, 6}},
        [&](const Vars& x) { return layer(x[0], x[1], x[2], mask); },
        [&](Masks& masks, const Vars& x) { return attend(masks, layer, x[0], x[1], x[2], mask); });
  }
}

TEST_CASE("dropout: in a feed-forward network, of the hidden elements", "[layers]") {
  Random random(1);
  PositionWiseFeedForward<double> layer(
      {.num_hiddens = 5, .ffn_num_hiddens = 9, .activation = Activation::gelu, .dropout = p},
      random);
  check_definition(
      layer, {{3, 4, 5}}, [&](const Vars& x) { return layer(x[0]); },
      [&](Masks& masks, const Vars& x) { return feed_forward(masks, layer, x[0]); });
}

TEST_CASE("dropout: in an encoder block, of weights, hidden elements and both sublayers",
          "[layers]") {
  for (const bool norm_first : {false, true}) {
    INFO("norm_first " << norm_first);
    Random random(1);
    TransformerEncoderBlock<double> block(block_options(norm_first), random);
    check_definition(
        block, {{2, 5, 6}}, [&](const Vars& x) { return block(x[0]); },
        [&](Masks& masks, const Vars& x) {
          const Variable y = residual(masks, x[0], block.norm1, norm_first, [&](const Variable& z) {
            return attend(masks, block.attention, z, z);
          });
          return residual(masks, y, block.norm2, norm_first, [&](const Variable& z) {
            return feed_forward(masks, *block.ffn.get_if<PositionWiseFeedForward>(), z);
          });
        });
  }
}

TEST_CASE("dropout: in a decoder block, of weights, hidden elements and all three sublayers",
          "[layers]") {
  for (const bool norm_first : {false, true}) {
    INFO("norm_first " << norm_first);
    Random random(1);
    TransformerDecoderBlock<double> block(block_options(norm_first), random);
    check_definition(
        block, {{2, 5, 6}, {2, 4, 6}}, [&](const Vars& x) { return block(x[0], x[1]); },
        [&](Masks& masks, const Vars& x) {
          Variable y = residual(masks, x[0], block.norm1, norm_first, [&](const Variable& z) {
            return attend(masks, block.self_attention, z, z, {.causal = true});
          });
          y = residual(masks, y, block.norm2, norm_first, [&](const Variable& z) {
            return attend(masks, block.cross_attention, z, x[1]);
          });
          return residual(masks, y, block.norm3, norm_first, [&](const Variable& z) {
            return feed_forward(masks, *block.ffn.get_if<PositionWiseFeedForward>(), z);
          });
        });
  }
}

TEST_CASE("dropout: of the sum with positional encodings", "[layers]") {
  PositionalEncoding<double> fixed({.num_hiddens = 6, .dropout = p, .max_len = 9});
  const PositionalEncoding<double> plain({.num_hiddens = 6, .max_len = 9});
  check_definition(
      fixed, {{3, 5, 6}}, [&](const Vars& x) { return fixed(x[0]); },
      [&](Masks& masks, const Vars& x) { return masks(plain(x[0])); });
  Random random(1);
  LearnedPositionalEncoding<double> learned({.num_hiddens = 6, .dropout = p, .max_len = 9}, random);
  check_definition(
      learned, {{3, 5, 6}}, [&](const Vars& x) { return learned(x[0]); },
      [&](Masks& masks, const Vars& x) {
        return masks(x[0] + slice(x[0].tape().parameter(learned.weight), 0, 0, 5));
      });
}

TEST_CASE("dropout: in an encoder and decoder whose blocks are recomputed, at every step",
          "[layers]") {
  struct Model : Module<double> {
    Model(bool recompute, Random& random)
        : encoder(block_options(true, recompute), random),
          decoder(block_options(true, recompute), random) {}
    void members(Members<double>& members) const override {
      members("encoder", encoder);
      members("decoder", decoder);
    }
    TransformerEncoder<double> encoder;
    TransformerDecoder<double> decoder;
  };
  const auto gradients = [](bool recompute) {
    Random random(1);
    Model model(recompute, random);
    const Parameter<double> x(random.normal_tensor<double>({3, 6, 6}));
    Tape<double> tape({.training = true, .seed = seed});
    std::vector<Tensor<double>> all;
    for (int pass = 0; pass < 3; ++pass) {
      const Variable source = tape.parameter(x);
      const Variable y = dropout(model.decoder(source, model.encoder(source)), p);
      all.push_back(y.value().clone());
      tape.backward(y, Random(4).normal_tensor<double>(y.shape()));
      for (const auto& [name, parameter] : named_parameters(model))
        all.push_back(parameter->grad().clone());
      all.push_back(x.grad().clone());
    }
    return all;
  };
  const auto stored = gradients(false), recomputed = gradients(true);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    INFO("result " << i);
    CHECK(distance(recomputed[i], stored[i], 1e-3) < 1e-10);
  }
}
