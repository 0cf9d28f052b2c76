// What is not finite at positions that a mask hides reaches neither a result nor a gradient, in any
// layer that takes valid lengths or a mask.
#include <cmath>
#include <functional>
#include <limits>

#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/comparison.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/layers.hpp>
#include "tests/catch.hpp"

using namespace weft;

namespace {

constexpr Index batch = 3, time_steps = 5, size = 4;
const ValidLens lens{3, 5, 0};

// The positions that count, [batch, time, 1].
Tensor<bool> valid() {
  Tensor<bool> valid({batch, time_steps, 1});
  for (Index b = 0; b < batch; ++b)
    for (Index t = 0; t < lens.length(b, 0, time_steps); ++t) valid(b, t, 0) = true;
  return valid;
}

// Random vectors, with `bad` at the other positions.
Tensor<double> with_bad(double bad, std::uint64_t seed) {
  auto x = Random(seed).normal_tensor<double>({batch, time_steps, size});
  const Tensor<bool> counts = valid();
  for (Index i = 0; i < x.size(); ++i)
    if (!counts.data()[i / size]) x.data()[i] = bad;
  return x;
}

struct Result {
  Tensor<double> y;
  std::vector<Tensor<double>> gradients;
};

// The result, with zeros at positions that do not count, and the gradients of all parameters and
// inputs for a fixed gradient of it.
template <class Layer, class Call>
Result run(Layer& layer, double bad, const Call& call) {
  Result result;
  zero_grad(layer);
  Tape<double> tape({.training = true});
  const Var<double> x = tape.variable(with_bad(bad, 1)), memory = tape.variable(with_bad(bad, 2));
  Var<double> y = call(x, memory);
  if (y.rank() == 3 && y.shape()[1] == time_steps) y = where(valid(), y, 0.0);
  result.y = y.value();
  const Var<double> loss = sum(y * tape.constant(Random(3).normal_tensor<double>(y.shape())));
  for (const Tensor<double>& dx : tape.gradients(loss, {x, memory}, {.retain_graph = true}))
    result.gradients.push_back(dx);
  tape.backward(loss);
  for (const auto& [name, parameter] : named_parameters(layer))
    result.gradients.push_back(parameter->grad());
  return result;
}

void check_equal(const Tensor<double>& got, const Tensor<double>& expected) {
  REQUIRE(got.shape() == expected.shape());
  for (Index i = 0; i < got.size(); ++i)
    REQUIRE(got.data()[i] == Approx(expected.data()[i]).margin(1e-12));
}

// Zeros, NaN or an infinity in their place: nothing changes.
template <class Layer, class Call>
void check_hidden(const char* name, Layer layer, const Call& of_layer) {
  INFO(name);
  const auto call = [&](const Var<double>& x, const Var<double>& memory) {
    return of_layer(layer, x, memory);
  };
  const Result clean = run(layer, 0.0, call);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    INFO("with " << bad);
    const Result got = run(layer, bad, call);
    check_equal(got.y, clean.y);
    for (std::size_t i = 0; i < clean.gradients.size(); ++i) {
      INFO("gradient " << i);
      check_equal(got.gradients[i], clean.gradients[i]);
    }
  }
}

// Masks that hide the same positions in other ways; each also hides all keys from the queries
// there.
std::vector<std::pair<const char*, Mask>> masks() {
  const Tensor<bool> counts = valid();
  Tensor<bool> allowed({batch, time_steps, time_steps});
  Tensor<float> bias(allowed.shape());
  Tensor<std::int32_t> by_query({batch, time_steps});
  for (Index b = 0; b < batch; ++b)
    for (Index q = 0; q < time_steps; ++q) {
      if (counts(b, q, 0)) by_query(b, q) = static_cast<std::int32_t>(lens.length(b, 0, 5));
      for (Index k = 0; k < time_steps; ++k) {
        allowed(b, q, k) = counts(b, q, 0) && counts(b, k, 0);
        bias(b, q, k) = allowed(b, q, k) ? 0.0f : -std::numeric_limits<float>::infinity();
      }
    }
  return {{"lengths", lens},
          {"causal lengths", {.valid_lens = lens, .causal = true}},
          {"lengths of queries", ValidLens(by_query)},
          {"allowed", {.allowed = allowed}},
          {"causal allowed", {.causal = true, .allowed = allowed}},
          {"bias", {.bias = bias}}};
}

}  // namespace

TEST_CASE("hidden positions: attention", "[layers]") {
  Random random(1);
  for (const auto& [name, mask] : masks()) {
    INFO(name);
    const auto self = [&, &own = mask](const auto& layer, const auto& x, const auto&) {
      return layer(x, x, x, own);
    };
    const auto cross = [&, &own = mask](const auto& layer, const auto& x, const auto& memory) {
      // The queries that count attend to what counts of the memory.
      return layer(where(valid(), x, 0.0), memory, memory, own);
    };
    MultiHeadAttentionOptions options{.query_size = size,
                                      .key_size = size,
                                      .value_size = size,
                                      .num_hiddens = size,
                                      .num_heads = 2,
                                      .bias = true};
    check_hidden("SelfAttention",
                 SelfAttention<double>({.num_hiddens = size, .num_heads = 2}, random), self);
    for (const Scoring scoring : {Scoring::scaled_dot_product, Scoring::dot_product,
                                  Scoring::additive, Scoring::gaussian}) {
      options.scoring = scoring;
      check_hidden("MultiHeadAttention", MultiHeadAttention<double>(options, random), self);
      check_hidden("cross-attention", MultiHeadAttention<double>(options, random), cross);
      const AttentionPoolingOptions pooling{
          .scoring = scoring,
          .num_heads = 2,
          .additive = {.query_size = 2, .key_size = 2, .num_hiddens = 3}};
      check_hidden("AttentionPooling", AttentionPooling<double>(pooling, random), self);
      check_hidden("AttentionPooling of a memory", AttentionPooling<double>(pooling, random),
                   cross);
    }
    options.scoring = Scoring::scaled_dot_product;
    options.window = 2;
    options.rotary = RotaryOptions{};
    options.qk_norm_eps = 1e-5;
    options.num_kv_heads = 1;
    check_hidden("with a window", MultiHeadAttention<double>(options, random), self);
  }
}

TEST_CASE("hidden positions: queries that attend to nothing", "[layers]") {
  Random random(1);
  for (const auto& [name, mask] : masks()) {
    const bool hides_queries = std::string(name) != "lengths" && !mask.valid_lens.given();
    if (!hides_queries) continue;
    INFO(name);
    const MultiHeadAttentionOptions options{
        .query_size = size, .key_size = size, .value_size = size, .num_hiddens = size};
    check_hidden("MultiHeadAttention", MultiHeadAttention<double>(options, random),
                 [&, &own = mask](const auto& layer, const auto& x, const auto& memory) {
                   return layer(x, memory, memory, own);
                 });
  }
}

TEST_CASE("hidden positions: transformer blocks", "[layers]") {
  Random random(1);
  for (const bool norm_first : {false, true})
    for (const bool parallel : {false, true}) {
      if (parallel && !norm_first) continue;
      TransformerOptions options{.num_blocks = 2,
                                 .num_hiddens = size,
                                 .ffn_num_hiddens = 6,
                                 .num_heads = 2,
                                 .norm_first = norm_first,
                                 .parallel_residual = parallel};
      const TransformerEncoder<double> encoder(options, random);
      for (const auto& [name, mask] : masks()) {
        INFO(name);
        check_hidden("encoder", encoder,
                     [&, &own = mask](const auto& layer, const auto& x, const auto&) {
                       return layer(x, own);
                     });
      }
      options.parallel_residual = false;
      options.recompute = true;
      check_hidden("decoder", TransformerDecoder<double>(options, random),
                   [&](const auto& layer, const auto& x, const auto& memory) {
                     return layer(x, memory, lens, Mask{.valid_lens = lens});
                   });
    }
}

TEST_CASE("hidden positions: recurrent layers, convolution and pooling", "[layers]") {
  Random random(1);
  const RecurrentOptions options{
      .input_size = size, .num_hiddens = 3, .num_layers = 2, .bidirectional = true};
  const auto states = [](const auto& layer, const auto& x, const auto&) {
    return layer(x, lens).states;
  };
  const auto final_states = [](const auto& layer, const auto& x, const auto&) {
    return layer(x, lens).final_states;
  };
  check_hidden("RNN", RNN<double>(options, random), states);
  check_hidden("GRU", GRU<double>(options, random), states);
  check_hidden("LSTM", LSTM<double>(options, random), states);
  check_hidden("RNN", RNN<double>(options, random), final_states);
  check_hidden("GRU", GRU<double>(options, random), final_states);
  check_hidden("LSTM", LSTM<double>(options, random), final_states);
  const auto call = [](const auto& layer, const auto& x, const auto&) { return layer(x, lens); };
  check_hidden(
      "Conv1d",
      Conv1d<double>(
          {.in_channels = size, .out_channels = 3, .kernel_size = 3, .padding = Padding::same},
          random),
      call);
  for (const Pooling pooling : {Pooling::mean, Pooling::max, Pooling::first, Pooling::last})
    check_hidden("SequencePooling", SequencePooling<double>(pooling), call);
}

TEST_CASE("hidden positions: a decoder's memory in its cache", "[layers]") {
  Random random(1);
  const TransformerDecoder<double> decoder(
      {.num_blocks = 2, .num_hiddens = size, .ffn_num_hiddens = 6, .num_heads = 2}, random);
  const Tensor<double> x = Random(4).normal_tensor<double>({batch, 2, size});
  const auto states = [&](double bad) {
    Tape<double> tape = Tape<double>::inference();
    DecoderCache<double> cache = decoder.start(tape.constant(with_bad(bad, 1)), lens, 4);
    return decoder.extend(tape.constant(x), cache).value();
  };
  check_equal(states(std::numeric_limits<double>::quiet_NaN()), states(0.0));
}

TEST_CASE("hidden positions: queries, keys and values of a kernel regression", "[layers]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  KernelRegression<double> layer({});
  // Key 2 is hidden from all queries, and all keys from query 1.
  const Tensor<bool> allowed({2, 3}, {true, true, false, false, false, false});
  const auto gradient = [&](double bad) {
    layer.w.zero_grad();
    Tape<double> tape;
    const Var<double> y = layer(tape.constant(Tensor<double>({2}, {0.5, bad})),
                                tape.constant(Tensor<double>({3}, {1, 2, bad})),
                                tape.constant(Tensor<double>({3}, {1, 3, bad})), allowed);
    tape.backward(sum(y));
    return layer.w.grad().item();
  };
  CHECK(gradient(nan) == Approx(gradient(0.0)));
}

TEST_CASE("hidden positions: detect_anomaly finds nothing there", "[layers]") {
  Random random(1);
  AttentionPooling<double> attention({.scoring = Scoring::gaussian}, random);
  Tape<double> tape({.detect_anomaly = true});
  const Var<double> x = tape.variable(with_bad(std::numeric_limits<double>::quiet_NaN(), 1));
  const Var<double> q = tape.variable(with_bad(0.0, 2));
  tape.backward(sum(attention(q, x, x, lens)));
}
