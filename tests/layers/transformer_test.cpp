// Transformer encoders and decoders: blocks and stacks.
#include <cmath>
#include <limits>

#include <weft/layers.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

TransformerOptions small_options(bool norm_first, double dropout = 0.0) {
  return {.num_blocks = 2,
          .num_hiddens = 8,
          .ffn_num_hiddens = 12,
          .num_heads = 2,
          .dropout = dropout,
          .norm_first = norm_first};
}

// True when positions 0 … `time` of every sequence are the same in both.
bool same_until(const Tensor<double>& a, const Tensor<double>& b, Index time) {
  for (Index batch = 0; batch < a.shape()[0]; ++batch)
    for (Index i = 0; i < time; ++i)
      for (Index c = 0; c < a.shape()[2]; ++c)
        if (a(batch, i, c) != b(batch, i, c)) return false;
  return true;
}

}  // namespace

TEST_CASE("encoder: with a causal mask, results do not depend on later tokens", "[layers]") {
  Random random(1);
  const TransformerEncoder<double> encoder(small_options(GENERATE(false, true)), random);
  const Tensor<double> x = random.normal_tensor<double>({2, 6, 8});
  Tensor<double> changed = x.clone();
  for (Index batch : {0, 1}) changed(batch, 4, 3) += 1.0;
  Tape<double> tape;
  const Tensor<double> y = encoder(tape.constant(x), {.causal = true}).value();
  const Tensor<double> z = encoder(tape.constant(changed), {.causal = true}).value();
  CHECK(same_until(y, z, 4));
  CHECK_FALSE(same_until(y, z, 5));
  // Without the mask every position changes.
  CHECK_FALSE(
      same_until(encoder(tape.constant(x)).value(), encoder(tape.constant(changed)).value(), 1));
}

TEST_CASE("decoder: results do not depend on later tokens", "[layers]") {
  Random random(1);
  const TransformerDecoder<double> decoder(small_options(GENERATE(false, true)), random);
  const Tensor<double> x = random.normal_tensor<double>({2, 6, 8});
  const Tensor<double> memory = random.normal_tensor<double>({2, 3, 8});
  Tensor<double> changed = x.clone();
  for (Index batch : {0, 1}) changed(batch, 4, 3) += 1.0;
  Tape<double> tape;
  const Tensor<double> y = decoder(tape.constant(x), tape.constant(memory)).value();
  const Tensor<double> z = decoder(tape.constant(changed), tape.constant(memory)).value();
  CHECK(same_until(y, z, 4));
  CHECK_FALSE(same_until(y, z, 5));
}

TEST_CASE("decoder: memory past its length is ignored, even if NaN", "[layers]") {
  Random random(1);
  TransformerDecoder<double> decoder(small_options(true), random);
  const Tensor<double> x = random.normal_tensor<double>({2, 4, 8});
  const Tensor<double> values = random.normal_tensor<double>({2, 5, 8});
  const auto run = [&](double padding) {
    Parameter<double> memory(values);
    for (Index i = 3; i < 5; ++i)
      for (Index c = 0; c < 8; ++c) memory(1, i, c) = padding;
    Tape<double> tape;
    const Var y = decoder(tape.constant(x), tape.parameter(memory), ValidLens{5, 3});
    tape.backward(y, x);
    std::vector<Tensor<double>> results{y.value(), memory.grad()};
    for (const auto& [name, parameter] : named_parameters(decoder)) {
      results.push_back(parameter->grad().clone());
      parameter->zero_grad();
    }
    return results;
  };
  const auto zeros = run(0.0), nans = run(std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < zeros.size(); ++i) CHECK(same(zeros[i], nans[i]));
}

TEST_CASE("encoder and decoder: return the weights of every block", "[layers]") {
  Random random(1);
  const TransformerEncoder<double> encoder(small_options(true), random);
  const TransformerDecoder<double> decoder(small_options(true), random);
  Tape<double> tape({.recording = false, .keep_attention_weights = true});
  const Var memory =
      encoder(tape.constant(random.normal_tensor<double>({3, 5, 8})), ValidLens{5, 2, 1});
  const std::vector<Tensor<double>> weights = tape.take_attention_weights();
  REQUIRE(weights.size() == 2);
  CHECK(weights[1].shape() == Shape{3, 2, 5, 5});
  CHECK(weights[1](2, 1, 4, 0) == 1.0);

  decoder(tape.constant(random.normal_tensor<double>({3, 4, 8})), memory, ValidLens{5, 2, 1});
  const std::vector<Tensor<double>> of_decoder = tape.take_attention_weights();
  REQUIRE(of_decoder.size() == 4);  // of each block, self-attention and cross-attention
  CHECK(of_decoder[0].shape() == Shape{3, 2, 4, 4});
  CHECK(of_decoder[0](0, 0, 2, 3) == 0.0);
  CHECK(of_decoder[1].shape() == Shape{3, 2, 4, 5});
  CHECK(of_decoder[1](1, 0, 2, 2) == 0.0);
}

TEST_CASE("encoder: a final norm follows pre-norm blocks", "[layers]") {
  Random random(1);
  CHECK(TransformerEncoder<>(small_options(true), random).norm.has_value());
  CHECK_FALSE(TransformerEncoder<>(small_options(false), random).norm.has_value());
  CHECK(TransformerDecoder<>(small_options(true), random).norm.has_value());
  CHECK_FALSE(TransformerDecoder<>(small_options(false), random).norm.has_value());
}

TEST_CASE("encoder: dropout applies in training and depends on the seed", "[layers]") {
  Random random(1);
  const TransformerEncoder<double> encoder(small_options(true, 0.3), random);
  const Tensor<double> x = random.normal_tensor<double>({2, 5, 8});
  const auto run = [&](const TapeOptions& options) {
    Tape<double> tape(options);
    return encoder(tape.constant(x)).value();
  };
  CHECK(same(run({}), run({.seed = 9})));
  CHECK(same(run({.training = true, .seed = 9}), run({.training = true, .seed = 9})));
  CHECK_FALSE(same(run({.training = true, .seed = 9}), run({.training = true, .seed = 8})));
  CHECK_FALSE(same(run({.training = true, .seed = 9}), run({})));
}

TEST_CASE("encoder and decoder: a copy is independent of the original", "[layers]") {
  Random random(1);
  const TransformerDecoder<double> decoder(small_options(true), random);
  TransformerDecoder<double> copy = decoder;
  const Tensor<double> x = random.normal_tensor<double>({2, 4, 8});
  const auto run = [&](const TransformerDecoder<double>& model) {
    Tape<double> tape;
    return model(tape.constant(x), tape.constant(x)).value();
  };
  const Tensor<double> before = run(decoder);
  CHECK(same(run(copy), before));
  for (const auto& [name, parameter] : named_parameters(copy))
    std::ranges::fill(parameter->values(), 0.1);
  CHECK(same(run(decoder), before));
  CHECK_FALSE(same(run(copy), before));
}

TEST_CASE("encoder and decoder: invalid arguments throw", "[layers]") {
  Random random(1);
  TransformerOptions options = small_options(false);
  options.num_blocks = 0;
  CHECK(message_of<ValueError>([&] { TransformerEncoder<>(options, random); }) ==
        "TransformerEncoder: num_blocks: expected a number > 0, got 0");
  CHECK(message_of<ValueError>([&] { TransformerDecoder<>(options, random); }) ==
        "TransformerDecoder: num_blocks: expected a number > 0, got 0");
  options = small_options(false);
  options.num_heads = 3;
  CHECK(contains(message_of<ValueError>([&] { TransformerEncoder<>(options, random); }),
                 "num_hiddens 8 and num_heads 3"));
  options = small_options(false, 1.5);
  CHECK(contains(message_of<ValueError>([&] { TransformerDecoder<>(options, random); }),
                 "a probability from 0 to 1, got 1.5"));

  const TransformerDecoder<> decoder(small_options(GENERATE(false, true)), random);
  Tape tape;
  const auto zeros = [&](Shape shape) { return tape.constant(Tensor<float>(shape)); };
  const auto message = [&](Shape x, Shape memory, const Mask& mask = {}) {
    return message_of<Error>([&] { decoder(zeros(x), zeros(memory), mask); });
  };
  CHECK(contains(message({2, 4, 7}, {2, 5, 8}), "[2, 4, 7]"));
  CHECK(contains(message({2, 4, 8}, {2, 5, 7}), "keys: expected shape [batch, time, 8], got"));
  CHECK(contains(message({2, 4, 8}, {3, 5, 8}), "[3, 5, 8]"));
  CHECK(contains(message({2, 4, 8}, {2, 5, 8}, ValidLens{6, 1}), "lengths from 0 to 5, got 6"));
}
