// Options of attention that open language models have: heads of their own size, norms of queries
// and keys, windows, rotary positions of a part of a head and their scaling, parallel residuals.
#include <algorithm>
#include <limits>

#include <weft/layers/multi_head_attention.hpp>
#include <weft/layers/transformer_encoder.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/layers/check_gradients.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

MultiHeadAttentionOptions small() {
  return {.query_size = 6, .key_size = 6, .value_size = 6, .num_hiddens = 6, .num_heads = 2};
}

template <class T>
Tensor<T> attended(const MultiHeadAttention<T>& layer, const Tensor<T>& x) {
  Tape<T> tape = Tape<T>::inference();
  const Var<T> input = tape.constant(x);
  return layer(input, input, input, {.causal = true}).value();
}

// The same from a cache: `first` positions, then two, then one at a time.
template <class T>
Tensor<T> extended(const MultiHeadAttention<T>& layer, const Tensor<T>& x, Index first) {
  const Index batch = x.shape()[0], time = x.shape()[1], size = x.shape()[2];
  Tape<T> tape = Tape<T>::inference();
  KeyValueCache<T> cache(layer.cache_options(1, 2), batch);
  Tensor<T> result(x.shape());
  for (Index begin = 0, count = first; begin < time;
       begin += count, count = std::min<Index>(begin == first ? 2 : 1, time - begin)) {
    Tensor<T> part({batch, count, size});
    for (Index b = 0; b < batch; ++b)
      std::copy_n(x.data() + (b * time + begin) * size, count * size,
                  part.data() + b * count * size);
    const Tensor<T> y = layer.extend(tape.constant(part), {cache, 0}).value();
    cache.advance(count);
    for (Index b = 0; b < batch; ++b)
      std::copy_n(y.data() + b * count * size, count * size,
                  result.data() + (b * time + begin) * size);
  }
  return result;
}

}  // namespace

TEST_CASE("gradients: attention with heads of their own size, norms, windows and partial rotation",
          "[layers][gradients][MultiHeadAttention]") {
  Random random(1);
  MultiHeadAttentionOptions options = small();
  options.head_size = 4;
  options.bias = true;
  options.output_bias = GENERATE(true, false);
  options.qk_norm_eps = 1e-3;
  options.window = GENERATE(1, 2, 5);
  options.rotary = RotaryOptions{.base = 20.0,
                                 .pairs = GENERATE(RotaryPairs::halves, RotaryPairs::interleaved),
                                 .size = 2,
                                 .factor = 3.0,
                                 .band = RotaryBand{.low = 0.1, .high = 2.0, .original_len = 4}};
  MultiHeadAttention<double> layer(options, random);
  check_gradients(layer, {{2, 4, 6}}, [&](Tape<double>&, const Vars& x) {
    return layer(x[0], x[0], x[0], {.causal = true});
  });
}

TEST_CASE("gradients: a block with a parallel residual", "[layers][gradients]") {
  Random random(1);
  TransformerEncoderBlock<double> block({.num_hiddens = 6,
                                         .ffn_num_hiddens = 5,
                                         .num_heads = 2,
                                         .activation = Activation::gelu,
                                         .norm_first = true,
                                         .parallel_residual = true},
                                        random);
  check_gradients(block, {{2, 3, 6}}, [&](Tape<double>&, const Vars& x) { return block(x[0]); });
}

TEST_CASE("attention in a window: equals a mask of allowed keys, also from a cache", "[layers]") {
  const Index window = GENERATE(1, 3, 7, 40), time = GENERATE(2, 7, 21), first = GENERATE(1, 12);
  CAPTURE(window, time, first);
  MultiHeadAttentionOptions options = small();
  options.num_kv_heads = 1;
  options.rotary = RotaryOptions{};
  options.head_size = 4;
  Random random(3);
  const MultiHeadAttention<double> whole(options, random);
  MultiHeadAttention<double> windowed = whole;
  windowed.window = window;
  const Tensor<double> x = random.normal_tensor<double>({2, time, 6});
  Tensor<bool> allowed({time, time});
  for (Index query = 0; query < time; ++query)
    for (Index key = 0; key < time; ++key)
      allowed(query, key) = key <= query && query - key < window;
  Tape<double> tape = Tape<double>::inference();
  const Var<double> input = tape.constant(x);
  const Tensor<double> expected =
      whole(input, input, input, {.allowed = allowed.reshaped({1, time, time})}).value();
  CHECK(distance(attended(windowed, x), expected) < 1e-13);
  CHECK(distance(extended(windowed, x, std::min(first, time)), expected) < 1e-13);
  // With a mask of its own: the last key of the first sequence is not seen.
  Tensor<bool> own({2, time, time});
  std::fill_n(own.data(), own.size(), true);
  for (Index query = 0; query < time; ++query) own(0, query, time - 1) = false;
  Tensor<bool> both = own;
  for (Index b = 0; b < 2; ++b)
    for (Index query = 0; query < time; ++query)
      for (Index key = 0; key < time; ++key)
        both(b, query, key) = own(b, query, key) && allowed(query, key);
  CHECK(distance(windowed(input, input, input, {.causal = true, .allowed = own}).value(),
                 whole(input, input, input, {.allowed = both}).value()) < 1e-13);
  // Of two windows, the smaller one counts.
  MultiHeadAttention<double> narrow = whole;
  narrow.window = std::min<Index>(window, 2);
  CHECK(distance(windowed(input, input, input, {.causal = true, .window = 2}).value(),
                 attended(narrow, x)) == 0.0);
}

TEST_CASE("rotary embedding of a part of each head leaves the other channels", "[layers]") {
  Random random(4);
  const Tensor<double> x = random.normal_tensor<double>({1, 5, 12});  // two heads of 6
  Tape<double> tape = Tape<double>::inference();
  const Tensor<double> y =
      rotary_embedding(tape.constant(x), 2, RotaryOptions{.base = 30.0, .size = 4}).value();
  for (Index head = 0; head < 2; ++head) {
    Tensor<double> part({1, 5, 4});
    for (Index t = 0; t < 5; ++t)
      for (Index c = 0; c < 4; ++c) part(0, t, c) = x(0, t, head * 6 + c);
    const Tensor<double> rotated =
        rotary_embedding(tape.constant(part), 1, RotaryOptions{.base = 30.0}).value();
    for (Index t = 0; t < 5; ++t)
      for (Index c = 0; c < 6; ++c)
        CHECK(y(0, t, head * 6 + c) == (c < 4 ? rotated(0, t, c) : x(0, t, head * 6 + c)));
  }
}

TEST_CASE("rotary embedding: frequencies are divided, but for those in the band", "[layers]") {
  // One pair, of frequency 1: 2 π turns in 2 π · 6.28… positions.
  const Tensor<double> x({1, 3, 2}, {1, 0, 1, 0, 1, 0});
  Tape<double> tape = Tape<double>::inference();
  const auto angle = [&](const RotaryOptions& options) {
    const Tensor<double> y = rotary_embedding(tape.constant(x), 1, options).value();
    return std::atan2(y(0, 2, 1), y(0, 2, 0));
  };
  CHECK(angle({}) == Approx(2.0));
  CHECK(angle({.factor = 4.0}) == Approx(0.5));
  const auto in_band = [&](double low, double high) {
    return angle({.factor = 4.0, .band = RotaryBand{.low = low, .high = high, .original_len = 63}});
  };
  // 63 / (2 π) = 10.027 turns.
  CHECK(in_band(1.0, 4.0) == Approx(2.0));
  CHECK(in_band(11.0, 14.0) == Approx(0.5));
  const double kept = (63.0 / (2 * 3.141592653589793) - 9.0) / 3.0;
  CHECK(in_band(9.0, 12.0) == Approx(2.0 * kept + 0.5 * (1.0 - kept)));
}

TEST_CASE("attention options: values outside their ranges throw", "[layers]") {
  const auto error = [](const auto& change) {
    MultiHeadAttentionOptions options = small();
    change(options);
    return message_of<ValueError>([&] {
      Random random(1);
      MultiHeadAttention<float> layer(options, random);
    });
  };
  CHECK(error([](auto& o) { o.head_size = 0; }) ==
        "MultiHeadAttention: head_size: expected a number > 0, got 0");
  CHECK(error([](auto& o) {
          o.head_size = std::numeric_limits<Index>::max();
        }).starts_with("MultiHeadAttention: head_size: expected at most "));
  CHECK(error([](auto& o) { o.window = 0; }) ==
        "MultiHeadAttention: window: expected a number > 0, got 0");
  CHECK(error([](auto& o) { o.qk_norm_eps = -1.0; }).find("eps") != std::string::npos);
  CHECK(error([](auto& o) { o.rotary = RotaryOptions{.size = 4}; }) ==
        "MultiHeadAttention: rotary: size: expected an even number from 2 to 3, got 4");
  CHECK(error([](auto& o) { o.rotary = RotaryOptions{.size = 2, .factor = 0.0}; }) ==
        "MultiHeadAttention: rotary: factor: expected a finite number > 0, got 0");
  CHECK(error([](auto& o) {
          o.rotary = RotaryOptions{.size = 2, .band = RotaryBand{.low = 4.0, .high = 4.0}};
        }) ==
        "MultiHeadAttention: rotary: band: expected 0 < low < high, and original_len > 0, got "
        "low 4, high 4, original_len 8192");
  CHECK(error([](auto& o) {
          o.rotary = RotaryOptions{.size = 2,
                                   .band = RotaryBand{.low = 1.0, .high = 4.0, .original_len = 0}};
        }) ==
        "MultiHeadAttention: rotary: band: expected 0 < low < high, and original_len > 0, "
        "got low 1, high 4, original_len 0");
  CHECK(message_of<ValueError>([] {
          Random random(1);
          TransformerEncoderBlock<float> block(
              {.num_hiddens = 4, .ffn_num_hiddens = 4, .parallel_residual = true}, random);
        }) ==
        "TransformerEncoderBlock: norm_first: expected true with parallel_residual, got false");
}
