#include "tests/benchmarks/layers.hpp"

#include <memory>
#include <utility>

#include <weft/layers.hpp>

namespace weft::benchmarks {
namespace {

constexpr Index batch = 32, time = 64, width = 128, heads = 8, kv_heads = 2;

// `multiplications`: of the forward's matrix products, per position.
template <class Layer, class Call>
Workload step_of(Layer layer, double multiplications, const Call& call) {
  struct State {
    explicit State(Layer benchmarked)
        : layer(std::move(benchmarked)),
          parameters(named_parameters(layer)),
          x(random.template normal_tensor<float>({batch, time, width})) {}
    Random random{1};
    Layer layer;
    NamedParameters<float> parameters;
    Parameter<float> x;
    Tensor<float> upstream;
    Tape<float> tape{{.training = true}};
  };
  const auto state = std::make_shared<State>(std::move(layer));
  constexpr auto tokens = static_cast<double>(batch * time);
  return {.step =
              [state, call] {
                for (const auto& [name, parameter] : state->parameters) parameter->zero_grad();
                state->x.zero_grad();
                const Var<float> y = call(state->layer, state->tape.parameter(state->x));
                if (state->upstream.shape() != y.shape())
                  state->upstream = state->random.template normal_tensor<float>(y.shape());
                state->tape.backward(y, state->upstream);
              },
          .tokens = tokens,
          .product_flops = 3.0 * 2.0 * tokens * multiplications};
}

const auto states = [](const auto& layer, const Var<float>& x) { return layer(x).states; };
const auto value = [](const auto& layer, const Var<float>& x) { return layer(x); };

// Sequences of 1 … time positions.
ValidLens lengths() {
  Tensor<std::int32_t> result({batch});
  for (Index i = 0; i < batch; ++i)
    result(i) = static_cast<std::int32_t>(1 + i * (time - 1) / batch);
  return ValidLens(result);
}

}  // namespace

std::optional<Workload> layer_step(const std::string& name) {
  Random random(1);
  const RecurrentOptions recurrent{.input_size = width, .num_hiddens = width};
  constexpr double product = static_cast<double>(width * width);
  if (name == "RNN") return step_of(RNN<float>(recurrent, random), 2 * product, states);
  if (name == "GRU") return step_of(GRU<float>(recurrent, random), 6 * product, states);
  if (name == "LSTM") return step_of(LSTM<float>(recurrent, random), 8 * product, states);
  if (name == "BiLSTM") {
    RecurrentOptions both = recurrent;
    both.bidirectional = true;
    return step_of(LSTM<float>(both, random), 16 * product, states);
  }
  if (name == "SwiGLU")
    return step_of(SwiGLU<float>({.num_hiddens = width, .ffn_num_hiddens = 3 * width}, random),
                   9 * product, value);
  if (name == "RMSNorm") return step_of(RMSNorm<float>({.num_hiddens = width}), 0.0, value);
  if (name == "GQA") {
    MultiHeadAttentionOptions options{.query_size = width,
                                      .key_size = width,
                                      .value_size = width,
                                      .num_hiddens = width,
                                      .num_heads = heads};
    options.num_kv_heads = kv_heads;
    constexpr double projections = 2.0 + 2.0 * kv_heads / heads;
    return step_of(MultiHeadAttention<float>(options, random),
                   projections * product + static_cast<double>(time + 1) * width,
                   [](const auto& layer, const Var<float>& x) {
                     return layer(x, x, x, Mask{.causal = true});
                   });
  }
  if (name == "pooling")
    return step_of(SequencePooling<float>(Pooling::mean), 0.0,
                   [valid_lens = lengths()](const auto& layer, const Var<float>& x) {
                     return layer(x, valid_lens);
                   });
  return {};
}

}  // namespace weft::benchmarks
