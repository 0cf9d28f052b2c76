// Rotary position embedding as an option of MultiHeadAttention and of transformer blocks; against
// PyTorch's formulas it is tested in tests/golden.
#include <array>
#include <sstream>

#include <weft/layers.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"
#include "tests/tight_bound.hpp"

using namespace weft;

namespace {

template <class T = double>
MultiHeadAttention<T> rotary_attention(Index hiddens, const RotaryOptions& rotary) {
  Random random(1);
  return {{.query_size = hiddens,
           .key_size = hiddens,
           .value_size = hiddens,
           .num_hiddens = hiddens,
           .num_heads = 2,
           .rotary = rotary},
          random};
}

// The weights of the attention of x [1, time, hiddens] to itself.
Tensor<double> weights_of(const MultiHeadAttention<double>& attention, const Tensor<double>& x) {
  Tape<double> tape({.recording = false, .keep_attention_weights = true});
  const Var<double> in = tape.constant(x);
  attention(in, in, in);
  return tape.take_attention_weights().front();
}

}  // namespace

TEST_CASE("rotary attention: weights do not depend on the first position", "[layers]") {
  const Tensor<double> x = Random(2).normal_tensor<double>({1, 6, 8});
  const Tensor<double> at_the_start = weights_of(rotary_attention(8, {}), x);
  CHECK(distance(weights_of(rotary_attention(8, {.first_position = 100}), x), at_the_start) <
        1e-12);
}

TEST_CASE("rotary attention: distinguishes positions with equal vectors", "[layers]") {
  const Tensor<double> x = Tensor<double>::full({1, 4, 8}, 1.0);
  const Tensor<double> weights = weights_of(rotary_attention(8, {}), x);
  CHECK(std::abs(weights(0, 0, 0, 0) - weights(0, 0, 0, 3)) > 1e-3);
  // Only the distance matters: positions 1 and 0 are related as positions 2 and 1.
  CHECK(std::abs(weights(0, 0, 1, 0) / weights(0, 0, 1, 1) -
                 weights(0, 0, 2, 1) / weights(0, 0, 2, 2)) < 1e-12);
}

TEST_CASE("gradients: multi-head attention with rotary embeddings", "[layers]") {
  for (const RotaryPairs pairs : {RotaryPairs::interleaved, RotaryPairs::halves}) {
    MultiHeadAttention<double> attention = rotary_attention(8, {.pairs = pairs});
    Parameter<double> input(Random(3).normal_tensor<double>({2, 3, 8}));
    NamedParameters<double> checked = named_parameters(attention);
    checked.push_back({"input", &input});
    const GradCheckReport report = gradcheck(
        [&](Tape<double>& tape) {
          const Var<double> in = tape.parameter(input);
          return attention(in, in, in, ValidLens{3, 2});
        },
        checked, tight_bound);
    INFO(report);
    CHECK(report.passed());
    CHECK(report.checked() > 0);
  }
}

TEST_CASE("rotary attention: is used in self-attention only, and is printed", "[layers]") {
  Random random(1);
  TransformerOptions options{.num_hiddens = 8, .ffn_num_hiddens = 8, .num_heads = 2};
  const auto has_rotary = [&] {
    const TransformerDecoderBlock<float> decoder(options, random);
    const TransformerEncoderBlock<float> encoder(options, random);
    return std::array{encoder.attention.rotary.has_value(),
                      decoder.self_attention.rotary.has_value(),
                      decoder.cross_attention.rotary.has_value()};
  };
  CHECK(has_rotary() == std::array{false, false, false});
  options.rotary = RotaryOptions{.base = 500.0};
  CHECK(has_rotary() == std::array{true, true, false});

  std::ostringstream printed;
  printed << TransformerEncoderBlock<float>(options, random);
  CHECK(contains(printed.str(), "rotary_base=500.0"));
}

TEST_CASE("rotary embedding: rotates every row of the sinusoidal encoding to the first one",
          "[layers]") {
  // Row i of the sinusoidal encoding is row 0 rotated by the same angles in the other direction.
  const Index time = 50, d = 12;
  const PositionalEncoding<double> encoding({.num_hiddens = d, .max_len = time});
  Tape<double> tape = Tape<double>::inference();
  const Tensor<double> rotated =
      rotary_embedding(tape.constant(encoding.table()), 1, {.pairs = RotaryPairs::interleaved})
          .value();
  for (Index i = 0; i < time; ++i)
    for (Index c = 0; c < d; ++c) CHECK(std::abs(rotated(i, c) - (c % 2 == 0 ? 0.0 : 1.0)) < 1e-14);
}

TEST_CASE("rotary attention: invalid options throw in the constructor", "[layers]") {
  CHECK(message_of<ValueError>([] { rotary_attention(6, {}); }) ==
        "MultiHeadAttention: rotary: expected num_heads > 0 that divides the vectors into heads of "
        "even size, got num_heads 2 for vectors of size 6");
  CHECK(message_of<ValueError>([] { rotary_attention(8, {.base = -1.0}); }) ==
        "MultiHeadAttention: rotary: base: expected a finite number > 0, got -1");
}
