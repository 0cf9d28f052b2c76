// Recurrent layers and convolutions against PyTorch's. write_sequence_layers.py wrote the expected
// values.
#include <weft/autograd/ops/packed_steps.hpp>
#include <weft/layers.hpp>
#include "tests/catch.hpp"
#include "tests/golden/layer_case.hpp"
#include "tests/golden/torch_row.hpp"

using namespace weft;

namespace {

constexpr Index inputs = 4, hiddens = 5;

// The states, followed in time by the final states of the layers, as in the file.
template <class T>
Var<T> joined(const RecurrentResult<T>& result) {
  const Shape& states = result.states.shape();
  const auto of_layers = [&](const Var<T>& final_states) {
    return reshape(transpose(final_states, 0, 1), {states[0], -1, states[2]});
  };
  return concatenate(std::vector{result.states, of_layers(result.final_states)}, 1);
}
template <class T>
Var<T> joined(const LstmResult<T>& result) {
  const Var<T> hidden = joined(RecurrentResult<T>{result.states, result.final_states});
  const Var<T> cells = joined(RecurrentResult<T>{result.states, result.final_cells});
  return concatenate(
      std::vector{hidden, slice(cells, 1, result.states.shape()[1], cells.shape()[1])}, 1);
}

template <class T, class Layer>
void check_recurrent(const std::string& kind) {
  const bool bidirectional = GENERATE(false, true);
  const Index num_layers = GENERATE(1, 2);
  const std::string name = str_cat(kind, bidirectional ? "_bidirectional_" : "_", num_layers);
  const auto check = [&](const std::string& variant, const std::vector<std::string>& names,
                         const auto& call) {
    Random random(1);
    Layer layer({.input_size = inputs,
                 .num_hiddens = hiddens,
                 .num_layers = num_layers,
                 .bidirectional = bidirectional},
                random);
    const golden::LayerCase<T> expected(name + variant, "sequence_layers.h5");
    expected.check(layer, names,
                   [&](auto&, const auto& x) { return joined(call(layer, expected, x)); });
  };
  check("", {"x"}, [](const auto& layer, auto&, const auto& x) { return layer(x[0]); });
  check("_lengths", {"x"}, [](const auto& layer, const auto& expected, const auto& x) {
    return layer(x[0], expected.mask().valid_lens);
  });
  if constexpr (std::is_same_v<Layer, LSTM<T>>)
    check("_initial", {"x", "initial", "initial_cells"},
          [](const auto& layer, const auto& expected, const auto& x) {
            return layer(x[0], expected.mask().valid_lens, x[1], x[2]);
          });
  else
    check("_initial", {"x", "initial"}, [](const auto& layer, const auto& expected, const auto& x) {
      return layer(x[0], expected.mask().valid_lens, x[1]);
    });
}

template <class T>
void check_convolution(const std::string& name, const Conv1dOptions& options) {
  Random random(1);
  Conv1d<T> layer(options, random);
  golden::LayerCase<T>("conv1d_" + name, "sequence_layers.h5")
      .check(layer, {"x"}, [&](auto&, const auto& x) { return layer(x[0]); });
}

}  // namespace

TEMPLATE_TEST_CASE("torch.nn.RNN, in one and both directions, with lengths and initial states",
                   "[golden][RNN]", float, double) {
  check_recurrent<TestType, RNN<TestType>>("rnn");
}

TEMPLATE_TEST_CASE("torch.nn.GRU, in one and both directions, with lengths and initial states",
                   "[golden][GRU]", float, double) {
  check_recurrent<TestType, GRU<TestType>>("gru");
}

TEMPLATE_TEST_CASE("torch.nn.LSTM, in one and both directions, with lengths and initial states",
                   "[golden][LSTM]", float, double) {
  check_recurrent<TestType, LSTM<TestType>>("lstm");
}

TEMPLATE_TEST_CASE("an LSTM that keeps its state at masked steps, in torch", "[golden][LSTM]",
                   float, double) {
  Random random(1);
  LSTM<TestType> layer({.input_size = 3, .num_hiddens = 4}, random);
  const Tensor<bool> mask({3, 6}, {false, true, true, false, false, true,  //
                                   true, false, true, true, true, false,   //
                                   false, false, false, false, false, false});
  golden::compare_with_torch<TestType>(
      "MaskedLSTM(3, 4, [[0, 1, 1, 0, 0, 1], [1, 0, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0]])", {{3, 6, 3}},
      layer, [&](const auto& x) {
        auto result = layer(pack_steps(x[0], mask), count_steps(mask));
        result.states = unpack_steps(result.states, mask);
        return joined(result);
      });
}

TEMPLATE_TEST_CASE("torch.nn.Conv1d", "[golden][Conv1d]", float, double) {
  const auto options = [](Index size) {
    return Conv1dOptions{.in_channels = inputs, .out_channels = hiddens, .kernel_size = size};
  };
  check_convolution<TestType>("plain", options(3));
  check_convolution<TestType>("point", options(1));
  Conv1dOptions padding = options(3), stride = options(3), dilation = options(3), all = options(4);
  padding.padding = 2;
  check_convolution<TestType>("padding", padding);
  stride.padding = 1;
  stride.stride = 2;
  check_convolution<TestType>("stride", stride);
  dilation.padding = 2;
  dilation.dilation = 3;
  check_convolution<TestType>("dilation", dilation);
  all.padding = 5;
  all.stride = 3;
  all.dilation = 2;
  all.bias = false;
  check_convolution<TestType>("all", all);
}

TEMPLATE_TEST_CASE("torch.nn.Conv1d, in groups", "[golden]", float, double) {
  Random random(1);
  Conv1d<TestType> groups({.in_channels = 4,
                           .out_channels = 6,
                           .kernel_size = 3,
                           .stride = 2,
                           .padding = 1,
                           .groups = 2},
                          random);
  golden::compare_with_torch<TestType>(
      "channels_last(torch.nn.Conv1d(4, 6, 3, stride=2, padding=1, groups=2))", {{2, 7, 4}}, groups,
      [&](const auto& x) { return groups(x[0]); });
  Conv1d<TestType> depthwise(
      {.in_channels = 4, .out_channels = 4, .kernel_size = 2, .groups = 4, .bias = false}, random);
  golden::compare_with_torch<TestType>(
      "channels_last(torch.nn.Conv1d(4, 4, 2, groups=4, bias=False))", {{2, 7, 4}}, depthwise,
      [&](const auto& x) { return depthwise(x[0]); });
}

TEMPLATE_TEST_CASE("torch.nn.Conv1d, with output as long as the input", "[golden]", float, double) {
  const auto options = [](Index size, Padding padding, Index dilation) {
    return Conv1dOptions{.in_channels = inputs,
                         .out_channels = hiddens,
                         .kernel_size = size,
                         .padding = padding,
                         .dilation = dilation};
  };
  check_convolution<TestType>("same", options(4, Padding::same, 1));
  check_convolution<TestType>("same_dilated", options(4, Padding::same, 3));
  check_convolution<TestType>("causal", options(3, Padding::causal, 2));
}
