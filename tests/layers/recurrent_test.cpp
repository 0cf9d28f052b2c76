#include <cmath>
#include <limits>

#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/dropout.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/recurrence.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/autograd/ops/shaping.hpp>
#include <weft/layers/recurrent.hpp>
#include <weft/layers/summary.hpp>
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

constexpr RecurrentOptions options{.input_size = 3, .num_hiddens = 4, .num_layers = 2};

}  // namespace

TEMPLATE_TEST_CASE("recurrent layers: two segments, with the state passed on, equal the whole",
                   "[layers]", RNN<double>, GRU<double>, LSTM<double>) {
  Random random(1);
  const TestType layer(options, random);
  Tape<double> tape;
  const Var<double> x = tape.constant(random.normal_tensor<double>({2, 7, 3}));
  const auto whole = layer(x);
  CHECK(whole.states.shape() == Shape{2, 7, 4});
  CHECK(whole.final_states.shape() == Shape{2, 2, 4});
  const auto first = layer(slice(x, 1, 0, 3));
  const auto second = [&] {
    const Var<double> rest = slice(x, 1, 3, 7);
    if constexpr (std::is_same_v<TestType, LSTM<double>>)
      return layer(rest, {}, first.final_states, first.final_cells);
    else
      return layer(rest, {}, first.final_states);
  }();
  CHECK(distance(first.states.value(), slice(whole.states, 1, 0, 3).value()) < 1e-15);
  CHECK(distance(second.states.value(), slice(whole.states, 1, 3, 7).value()) < 1e-15);
  CHECK(distance(second.final_states.value(), whole.final_states.value()) < 1e-15);
  // The final state of the last layer is its last state.
  const auto last = reshape(slice(whole.states, 1, 6, 7), {2, 4});
  CHECK(same(last.value(), reshape(slice(whole.final_states, 0, 1, 2), {2, 4}).value()));
}

TEMPLATE_TEST_CASE("recurrent layers: NaN past the end of a sequence is ignored", "[layers]",
                   RNN<double>, GRU<double>, LSTM<double>) {
  Random random(1);
  TestType layer(options, random);
  const auto run = [&](double padding) {
    Random inputs(2);
    Parameter<double> x(inputs.normal_tensor<double>({2, 5, 3}));
    for (Index t = 2; t < 5; ++t)
      for (Index i = 0; i < 3; ++i) x(0, t, i) = padding;
    Tape<double> tape;
    const auto result = layer(tape.parameter(x), ValidLens{2, 5});
    std::vector<Tensor<double>> results{result.states.value(), result.final_states.value()};
    tape.backward(sum(result.states) + sum(result.final_states));
    for (const auto& [name, parameter] : named_parameters<double>(layer)) {
      results.push_back(parameter->grad().clone());
      parameter->zero_grad();
    }
    results.push_back(x.grad());
    return results;
  };
  const auto expected = run(0.0), actual = run(std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(same(actual[i], expected[i]));
  for (Index t = 2; t < 5; ++t) CHECK(actual.front()(0, t, 0) == 0.0);
}

TEMPLATE_TEST_CASE("recurrent layers: initialized uniformly over ±1/√num_hiddens", "[layers]",
                   RNN<double>, GRU<double>, LSTM<double>) {
  Random random(2);
  TestType layer({.input_size = 40, .num_hiddens = 25}, random);
  for (const auto& [name, parameter] : named_parameters<double>(layer)) {
    INFO(name);
    double squares = 0.0;
    bool within = true;
    for (const double value : parameter->value()) {
      within &= std::abs(value) <= 0.2;
      squares += value * value;
    }
    CHECK(within);
    const double mean_square = squares / static_cast<double>(parameter->size());
    CHECK(std::abs(mean_square * 3 / 0.04 - 1) < (parameter->size() > 100 ? 0.1 : 0.5));
  }
}

TEMPLATE_TEST_CASE("recurrent layers: the reverse direction is the layer of reversed sequences",
                   "[layers]", RNN<double>, GRU<double>, LSTM<double>) {
  Random random(1);
  TestType both({.input_size = 3, .num_hiddens = 4, .bidirectional = true}, random);
  CHECK(both.bidirectional());
  TestType one({.input_size = 3, .num_hiddens = 4}, random);
  Tape<double> tape;
  const Var<double> x = tape.constant(random.normal_tensor<double>({2, 5, 3}));
  const ValidLens lengths{3, 5};
  const auto result = both(x, lengths);
  CHECK(result.states.shape() == Shape{2, 5, 8});
  REQUIRE(result.final_states.shape() == Shape{2, 2, 4});
  for (const Index direction : {0, 1}) {
    one.layers.front() = both.layers[static_cast<std::size_t>(direction)];
    const auto in_order = [&](const Var<double>& all) {
      return direction == 0 ? all : reverse_sequences(all, lengths);
    };
    const auto expected = one(in_order(x), lengths);
    CHECK(same(slice(result.states, 2, direction * 4, direction * 4 + 4).value(),
               in_order(expected.states).value()));
    CHECK(same(slice(result.final_states, 0, direction, direction + 1).value(),
               expected.final_states.value()));
  }
}

TEST_CASE("recurrent layers: an LSTM starts from zeros where only one initial state is given",
          "[layers]") {
  Random random(1);
  const LSTM<double> layer(options, random);
  Tape<double> tape;
  const Var<double> x = tape.constant(random.normal_tensor<double>({2, 3, 3}));
  const Var<double> given = tape.constant(random.normal_tensor<double>({2, 2, 4}));
  const Var<double> zeros = tape.constant(Tensor<double>({2, 2, 4}));
  CHECK(same(layer(x, {}, given).final_cells.value(),
             layer(x, {}, given, zeros).final_cells.value()));
  CHECK(same(layer(x, {}, {}, given).final_cells.value(),
             layer(x, {}, zeros, given).final_cells.value()));
  CHECK(same(layer(x).final_cells.value(), layer(x, {}, zeros, zeros).final_cells.value()));
}

TEST_CASE("recurrent layers: parameters are named, shaped and printed as PyTorch's", "[layers]") {
  Random random(1);
  GRU layer(options, random);
  const auto parameters = named_parameters<float>(layer);
  const std::vector<std::pair<std::string, Shape>> expected{
      {"weight_ih_l0", {12, 3}}, {"weight_hh_l0", {12, 4}}, {"bias_ih_l0", {12}},
      {"bias_hh_l0", {12}},      {"weight_ih_l1", {12, 4}}, {"weight_hh_l1", {12, 4}},
      {"bias_ih_l1", {12}},      {"bias_hh_l1", {12}}};
  REQUIRE(parameters.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(parameters[i].name == expected[i].first);
    CHECK(parameters[i].parameter->shape() == expected[i].second);
  }
  CHECK(contains(str_cat(layer), "GRU(3, 4, num_layers=2, batch_first=True)"));
  LSTM both({.input_size = 3, .num_hiddens = 4, .num_layers = 2, .bidirectional = true}, random);
  CHECK(contains(str_cat(both), "LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True)"));
  const auto of_both = named_parameters<float>(both);
  REQUIRE(of_both.size() == 16);
  CHECK(of_both[4].name == "weight_ih_l0_reverse");
  CHECK(of_both[15].name == "bias_hh_l1_reverse");
  CHECK(of_both[12].parameter->shape() == Shape{16, 8});
  RNN simple({.input_size = 3, .num_hiddens = 4}, random);
  CHECK(contains(str_cat(simple), "RNN(3, 4, num_layers=1, batch_first=True)"));
}

TEST_CASE("recurrent layers: dropout is applied between the layers, during training only",
          "[layers]") {
  Random random(1);
  RecurrentOptions of_stack = options;
  of_stack.bidirectional = true;
  of_stack.dropout = 0.5;
  const GRU<double> stack(of_stack, random);
  CHECK(contains(str_cat(stack), "bidirectional=True, dropout=0.5)"));
  // The layers, one by one.
  GRU<double> first({.input_size = 3, .num_hiddens = 4, .bidirectional = true}, random);
  GRU<double> second({.input_size = 8, .num_hiddens = 4, .bidirectional = true}, random);
  first.layers = {stack.layers[0], stack.layers[1]};
  second.layers = {stack.layers[2], stack.layers[3]};
  const auto values = random.normal_tensor<double>({2, 7, 3});
  const ValidLens lengths{7, 4};
  for (const bool training : {true, false}) {
    Tape<double> tape({.training = training, .seed = 3}), other({.training = training, .seed = 3});
    const Var<double> between = dropout(first(other.constant(values), lengths).states, 0.5);
    const auto result = stack(tape.constant(values), lengths);
    CHECK(same(result.states.value(), second(between, lengths).states.value()));
  }
  of_stack.dropout = 1.5;
  CHECK(message_of<ValueError>([&] { GRU<double>(of_stack, random); }) ==
        "GRU: dropout: expected a probability from 0 to 1, got 1.5");
}

TEST_CASE("recurrent layers: invalid arguments throw", "[layers]") {
  Random random(1);
  CHECK(message_of<ValueError>([&] { GRU({.num_hiddens = 4}, random); }) ==
        "GRU: input_size: expected a number > 0, got 0");
  CHECK(message_of<ValueError>([&] { RNN({.input_size = 3}, random); }) ==
        "RNN: num_hiddens: expected a number > 0, got 0");
  CHECK(message_of<ValueError>([&] {
          GRU({.input_size = 3, .num_hiddens = 4, .num_layers = 0}, random);
        }) == "GRU: num_layers: expected a number > 0, got 0");
  const GRU layer(options, random);
  Tape tape;
  const auto zeros = [&](Shape shape) { return tape.constant(Tensor<float>(shape)); };
  CHECK(message_of<ShapeError>([&] {
          layer(zeros({2, 3}));
        }) == "GRU: expected shape [batch, time, 3], got [2, 3]");
  CHECK(message_of<ShapeError>([&] {
          layer(zeros({2, 5, 4}));
        }) == "GRU: expected shape [batch, time, 3], got [2, 5, 4]");
  CHECK(message_of<ShapeError>([&] {
          layer(zeros({2, 5, 3}), {}, zeros({2, 4}));
        }) == "GRU: initial_states: expected [2, 2, 4], got [2, 4]");
  const LSTM lstm({.input_size = 3, .num_hiddens = 4, .bidirectional = true}, random);
  CHECK(message_of<ShapeError>([&] {
          lstm(zeros({2, 5, 3}), {}, zeros({1, 2, 4}));
        }) == "LSTM: initial_states: expected [2, 2, 4], got [1, 2, 4]");
  CHECK(message_of<ShapeError>([&] {
          lstm(zeros({2, 5, 3}), {}, {}, zeros({2, 2, 8}));
        }) == "LSTM: initial_cells: expected [2, 2, 4], got [2, 2, 8]");
  CHECK(message_of<ShapeError>([&] {
          layer(zeros({2, 5, 3}), ValidLens{1});
        }) == "GRU: valid_lens: expected shape [2] or [2, 1], got [1]");
  CHECK(message_of<ValueError>([&] {
          layer(zeros({2, 5, 3}), ValidLens{1, 6});
        }) == "GRU: valid_lens: expected lengths from 0 to 5, got 6");
}

TEST_CASE("recurrent: sizes beyond a shape, and layers taken away, throw", "[layers]") {
  Random random(1);
  CHECK_THROWS_AS(
      GRU<float>({.input_size = 1, .num_hiddens = std::numeric_limits<Index>::max()}, random),
      ShapeError);
  GRU<float> gru({.input_size = 2, .num_hiddens = 3}, random);
  gru.layers.clear();
  Tape<float> tape;
  CHECK_THROWS_WITH(gru(tape.constant(Tensor<float>({1, 4, 2}))),
                    "GRU: layers: expected at least one element, got 0");
  CHECK(named_parameters(gru).empty());
  LSTM<float> lstm({.input_size = 2, .num_hiddens = 3, .bidirectional = true}, random);
  lstm.layers.pop_back();
  CHECK_THROWS_WITH(
      lstm(tape.constant(Tensor<float>({1, 4, 2}))),
      "LSTM: layers: expected an even number of elements, two directions of each layer, got 1");
}

TEMPLATE_TEST_CASE("recurrent layers: the same bits on any number of threads", "[layers]",
                   RNN<float>, GRU<float>, LSTM<float>) {
  Random random(1);
  TestType layer({.input_size = 20, .num_hiddens = 24, .num_layers = 2}, random);
  Parameter<float> x(random.normal_tensor<float>({30, 9, 20}));
  check_same_bits([&] {
    Tape tape;
    const auto result = layer(tape.parameter(x));
    x.zero_grad();
    tape.backward(sum(result.states * result.states));
    std::vector<Tensor<float>> results{result.states.value(), x.grad().clone()};
    for (const auto& [name, parameter] : named_parameters<float>(layer)) {
      results.push_back(parameter->grad().clone());
      parameter->zero_grad();
    }
    return results;
  });
}
