#include <cmath>
#include <limits>

#include <weft/autograd/ops/activation.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/linear.hpp>
#include <weft/autograd/ops/matmul.hpp>
#include <weft/autograd/ops/recurrence.hpp>
#include <weft/autograd/ops/shaping.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

namespace weft {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class T>
using Recurrence = Var<T> (*)(const Var<T>&, const Var<T>&, const Var<T>&, const Var<T>&,
                              const ValidLens&);

// The inputs of a recurrence, and a function that runs it forward and backward.
template <class T>
struct Run {
  Parameter<T> inputs, weight, bias, initial;

  // A state consists of `parts` vectors of `size`.
  Run(Index gates, Index batch, Index time, Index size, Index parts = 1) {
    Random random(3);
    const auto parameter = [&](const Shape& shape, double standard_deviation = 0.7) {
      return Parameter<T>(random.normal_tensor<T>(shape, 0.0, standard_deviation));
    };
    inputs = parameter({batch, time, gates * size});
    weight = parameter({gates * size, size}, 1.0 / std::sqrt(static_cast<double>(size)));
    bias = parameter({gates * size});
    initial = parameter({batch, parts * size});
  }

  // Returns the states, then the gradients for `upstream`.
  template <class Function>
  std::vector<Tensor<T>> operator()(const Function& function, const Tensor<T>& upstream) {
    Tape<T> tape;
    const Var<T> states = function(tape.parameter(inputs), tape.parameter(weight),
                                   tape.parameter(bias), tape.parameter(initial));
    for (Parameter<T>* p : {&inputs, &weight, &bias, &initial}) p->zero_grad();
    tape.backward(states, upstream);
    return {states.value(), inputs.grad().clone(), weight.grad().clone(), bias.grad().clone(),
            initial.grad().clone()};
  }
};

// A step composed of single operations, by definition.
template <class T>
Var<T> gru_step(const Var<T>& x, const Var<T>& weight, const Var<T>& bias, const Var<T>& h) {
  const Index size = h.shape()[1];
  const Var<T> u = linear(h, weight, bias);
  const auto part = [&](const Var<T>& all, Index i) {
    return slice(all, 1, i * size, (i + 1) * size);
  };
  const Var<T> r = sigmoid(part(x, 0) + part(u, 0)), z = sigmoid(part(x, 1) + part(u, 1));
  const Var<T> n = tanh(part(x, 2) + r * part(u, 2));
  return n - z * n + z * h;
}

template <class T>
Var<T> tanh_step(const Var<T>& x, const Var<T>& weight, const Var<T>& bias, const Var<T>& h) {
  return tanh(x + linear(h, weight, bias));
}

// A state is h beside c.
template <class T>
Var<T> lstm_step(const Var<T>& x, const Var<T>& weight, const Var<T>& bias, const Var<T>& state) {
  const Index size = state.shape()[1] / 2;
  const auto part = [&](const Var<T>& all, Index i) {
    return slice(all, 1, i * size, (i + 1) * size);
  };
  const Var<T> u = x + linear(part(state, 0), weight, bias);
  const Var<T> c = sigmoid(part(u, 1)) * part(state, 1) + sigmoid(part(u, 0)) * tanh(part(u, 2));
  return concatenate(std::vector{sigmoid(part(u, 3)) * tanh(c), c}, 1);
}

template <class T, class Step>
auto composed(const Step& step) {
  return [step](const Var<T>& inputs, const Var<T>& weight, const Var<T>& bias,
                const Var<T>& initial) {
    Var<T> h = initial;
    std::vector<Var<T>> states;
    for (Index t = 0; t < inputs.shape()[1]; ++t) {
      const Var<T> x = slice(inputs, 1, t, t + 1);
      h = step(reshape(x, {x.shape()[0], -1}), weight, bias, h);
      states.push_back(h);
    }
    return stack(states, 1);
  };
}

template <class T>
auto with_lengths(Recurrence<T> recurrence, const ValidLens& lengths) {
  return [recurrence, lengths](const Var<T>& inputs, const Var<T>& weight, const Var<T>& bias,
                               const Var<T>& initial) {
    return recurrence(inputs, weight, bias, initial, lengths);
  };
}

}  // namespace

TEST_CASE("recurrence: steps of one unit computed by hand", "[autograd]") {
  Tape<double> tape;
  const auto of = [&](Shape shape, std::initializer_list<double> values) {
    return tape.constant(Tensor<double>(shape, values));
  };
  const double first = std::tanh(0.5 + 2.0 * 0.3 - 0.1);
  const double second = std::tanh(-1.0 + 2.0 * first - 0.1);
  const auto states = tanh_recurrence(of({1, 2, 1}, {0.5, -1.0}), of({1, 1}, {2.0}),
                                      of({1}, {-0.1}), of({1, 1}, {0.3}));
  CHECK(distance(states.value(), Tensor<double>({1, 2, 1}, {first, second})) < 1e-15);

  // Gates r = σ(ln 3) = 3/4 and z = σ(-ln 3) = 1/4, whatever the state; n = tanh(0.2 + 3/4 · 1.4).
  const double n = std::tanh(0.2 + 0.75 * (2.0 * 0.5 + 0.4));
  const auto after =
      gru_recurrence(of({1, 1, 3}, {std::log(3.0), -std::log(3.0), 0.2}),
                     of({3, 1}, {0.0, 0.0, 2.0}), of({3}, {0.0, 0.0, 0.4}), of({1, 1}, {0.5}));
  CHECK(distance(after.value(), Tensor<double>({1, 1, 1}, {0.75 * n + 0.25 * 0.5})) < 1e-15);

  // Gates i = 3/4, f = 1/4 and o = σ(ln 7) = 7/8; g = tanh(0.2 + 2 · 0.5 + 0.4).
  const double c = 0.25 * -0.6 + 0.75 * std::tanh(1.6);
  const auto state = lstm_recurrence(
      of({1, 1, 4}, {std::log(3.0), -std::log(3.0), 0.2, std::log(7.0)}),
      of({4, 1}, {0.0, 0.0, 2.0, 0.0}), of({4}, {0.0, 0.0, 0.4, 0.0}), of({1, 2}, {0.5, -0.6}));
  CHECK(distance(state.value(), Tensor<double>({1, 1, 2}, {0.875 * std::tanh(c), c})) < 1e-15);
}

TEMPLATE_TEST_CASE("recurrence: matches a composition of single operations", "[autograd]", float,
                   double) {
  constexpr double tolerance = std::is_same_v<TestType, double> ? 1e-12 : 2e-5;
  // Four ranges of sequences, of 8, 8, 8 and 3, and more units than a vector has lanes.
  const Index batch = 27, time = 11;
  const auto compare = [&](Index gates, Index size, Recurrence<TestType> recurrence,
                           const auto& step, Index parts = 1) {
    REQUIRE(time * gates * size * size / 8 >= 16384 / 8);  // at least 2048 operations a sequence
    Run<TestType> run(gates, batch, time, size, parts);
    const auto upstream = Random(5).normal_tensor<TestType>({batch, time, parts * size});
    const auto actual = run(with_lengths(recurrence, {}), upstream);
    const auto expected = run(composed<TestType>(step), upstream);
    for (std::size_t i = 0; i < actual.size(); ++i) {
      INFO("gates " << gates << ", tensor " << i);
      CHECK(distance(actual[i], expected[i]) < tolerance);
    }
  };
  compare(1, 41, &tanh_recurrence<TestType>, &tanh_step<TestType>);
  compare(3, 23, &gru_recurrence<TestType>, &gru_step<TestType>);
  compare(4, 21, &lstm_recurrence<TestType>, &lstm_step<TestType>, 2);
}

TEST_CASE("recurrence: a sequence in a padded batch gives the same as alone", "[autograd]") {
  const auto check = [](Index gates, Recurrence<double> recurrence, Index parts = 1) {
    const Index batch = 3, time = 5, size = 4, state_size = parts * size;
    const std::vector<std::int32_t> lengths{2, 5, 0};
    Run<double> run(gates, batch, time, size, parts);
    Random random(6);
    Tensor<double> upstream = random.normal_tensor<double>({batch, time, state_size});
    // Elements past the ends may be anything.
    for (Index b = 0; b < batch; ++b)
      for (Index t = lengths[static_cast<std::size_t>(b)]; t < time; ++t) {
        for (Index i = 0; i < gates * size; ++i) run.inputs(b, t, i) = nan;
        for (Index i = 0; i < state_size; ++i) upstream(b, t, i) = nan;
      }
    const auto together = run(with_lengths(recurrence, ValidLens(lengths)), upstream);
    Tensor<double> weight_gradient(together[2].shape()), bias_gradient(together[3].shape());
    for (Index b = 0; b < batch; ++b) {
      INFO("gates " << gates << ", sequence " << b);
      const Index length = lengths[static_cast<std::size_t>(b)];
      Run<double> alone(gates, 1, length, size, parts);
      alone.weight = run.weight;
      alone.bias = run.bias;
      const auto rows = [&](const Tensor<double>& all, Index count) {
        const Index width = all.shape()[-1], step = all.size() / batch;
        return std::span(all.data() + b * step, static_cast<std::size_t>(count * width));
      };
      alone.inputs =
          Parameter(Tensor<double>({1, length, gates * size}, rows(run.inputs.value(), length)));
      alone.initial = Parameter(Tensor<double>({1, state_size}, rows(run.initial.value(), 1)));
      const auto expected = alone(with_lengths(recurrence, {}),
                                  Tensor<double>({1, length, state_size}, rows(upstream, length)));
      CHECK(distance(Tensor<double>({1, length, state_size}, rows(together[0], length)),
                     expected[0]) < 1e-14);
      CHECK(distance(Tensor<double>({1, length, gates * size}, rows(together[1], length)),
                     expected[1]) < 1e-14);
      CHECK(distance(Tensor<double>({1, state_size}, rows(together[4], 1)), expected[4]) < 1e-14);
      for (const double state :
           rows(together[0], time).subspan(static_cast<std::size_t>(length * state_size)))
        CHECK(state == 0.0);
      for (const double gradient :
           rows(together[1], time).subspan(static_cast<std::size_t>(length * gates * size)))
        CHECK(gradient == 0.0);
      std::transform(weight_gradient.begin(), weight_gradient.end(), expected[2].begin(),
                     weight_gradient.begin(), std::plus<double>());
      std::transform(bias_gradient.begin(), bias_gradient.end(), expected[3].begin(),
                     bias_gradient.begin(), std::plus<double>());
    }
    CHECK(distance(together[2], weight_gradient) < 1e-14);
    CHECK(distance(together[3], bias_gradient) < 1e-14);
  };
  check(1, &tanh_recurrence<double>);
  check(3, &gru_recurrence<double>);
  check(4, &lstm_recurrence<double>, 2);
}

TEST_CASE("recurrence: reversed sequences start at their lengths", "[autograd]") {
  Tape<double> tape;
  const Var x = tape.constant(Tensor<double>({3, 3, 1}, {1, 2, 3, 4, 5, nan, nan, nan, nan}));
  CHECK(same(reverse_sequences(x, {3, 2, 0}).value(),
             Tensor<double>({3, 3, 1}, {3, 2, 1, 5, 4, 0, 0, 0, 0})));
  const Var whole = tape.constant(Tensor<double>({1, 2, 2}, {1, 2, 3, 4}));
  CHECK(same(reverse_sequences(whole).value(), Tensor<double>({1, 2, 2}, {3, 4, 1, 2})));
  CHECK(message_of<ShapeError>([&] {
          reverse_sequences(tape.constant(Tensor<double>({2, 3})));
        }) == "reverse_sequences: expected shape [batch, time, size], got [2, 3]");
  CHECK(message_of<ValueError>([&] { reverse_sequences(whole, {3}); }) ==
        "reverse_sequences: valid_lens: expected lengths from 0 to 2, got 3");
}

TEST_CASE("recurrence: the last states are those at the lengths", "[autograd]") {
  Tape<float> tape;
  const Var states = tape.constant(Tensor<float>({3, 2, 1}, {1, 2, 3, 4, 5, 6}));
  const Var initial = tape.constant(Tensor<float>({3, 1}, {7, 8, 9}));
  CHECK(same(last_states(states, initial).value(), Tensor<float>({3, 1}, {2, 4, 6})));
  CHECK(same(last_states(states, initial, {1, 0, 2}).value(), Tensor<float>({3, 1}, {1, 8, 6})));
  const Var none = tape.constant(Tensor<float>({3, 0, 1}));
  CHECK(same(last_states(none, initial).value(), initial.value()));
}

TEST_CASE("recurrence: no steps, no sequences and no gradients", "[autograd]") {
  Tape<float> tape = Tape<float>::inference();
  const auto zeros = [&](Shape shape) { return tape.constant(Tensor<float>(shape)); };
  for (const Shape& shape : {Shape{2, 0, 9}, Shape{0, 4, 9}, Shape{2, 4, 9}}) {
    const Var y = gru_recurrence(zeros(shape), zeros({9, 3}), zeros({9}), zeros({shape[0], 3}));
    CHECK(y.shape() == shape.with(2, 3));
    CHECK(y.node() == no_node);
  }
}

TEST_CASE("recurrence: shapes, lengths and tapes that do not match throw", "[autograd]") {
  Tape<float> tape, other;
  const auto zeros = [&](Shape shape) { return tape.constant(Tensor<float>(shape)); };
  const Var inputs = zeros({2, 4, 9}), weight = zeros({9, 3}), bias = zeros({9});
  const Var initial = zeros({2, 3});
  const auto message = [](const auto& action) { return message_of<ShapeError>(action); };
  CHECK(message([&] {
          gru_recurrence(inputs, zeros({3, 3}), bias, initial);
        }) == "gru_recurrence: weight: expected shape [3 size, size], got [3, 3]");
  CHECK(message([&] { tanh_recurrence(inputs, weight, bias, initial); }) ==
        "tanh_recurrence: weight: expected shape [size, size], got [9, 3]");
  CHECK(message([&] {
          gru_recurrence(zeros({2, 4, 3}), weight, bias, initial);
        }) ==
        "gru_recurrence: inputs: expected shape [batch, time, 9] for a weight of shape [9, 3], "
        "got [2, 4, 3]");
  CHECK(message([&] { gru_recurrence(inputs, weight, zeros({3}), initial); }) ==
        "gru_recurrence: bias: expected [9], got [3]");
  CHECK(message([&] {
          gru_recurrence(inputs, weight, bias, zeros({3, 3}));
        }) == "gru_recurrence: initial: expected [2, 3], got [3, 3]");
  CHECK(message([&] { gru_recurrence(inputs, weight, bias, initial, {4}); }) ==
        "gru_recurrence: valid_lens: expected shape [2] or [2, 1], got [1]");
  CHECK(message_of<ValueError>([&] {
          gru_recurrence(inputs, weight, bias, initial, {5, 1});
        }) == "gru_recurrence: valid_lens: expected lengths from 0 to 4, got 5");
  CHECK(message([&] {
          lstm_recurrence(zeros({2, 4, 12}), zeros({12, 3}), zeros({12}), initial);
        }) == "lstm_recurrence: initial: expected [2, 6], got [2, 3]");
  CHECK(message_of<Error>(
            [&] { gru_recurrence(inputs, weight, bias, other.constant(initial.value())); }) ==
        "gru_recurrence: expected inputs on one tape, got inputs on different tapes (write "
        "tape.constant(x) for a tensor x)");
  CHECK(message([&] { last_states(weight, initial); }) ==
        "last_states: expected shape [batch, time, size], got [9, 3]");
  CHECK(message([&] {
          last_states(zeros({2, 4, 3}), bias);
        }) == "last_states: initial: expected [2, 3], got [9]");
  CHECK(message_of<ValueError>([&] {
          last_states(zeros({2, 4, 3}), initial, {-1, 2});
        }) == "last_states: valid_lens: expected lengths from 0 to 4, got -1");
}

TEST_CASE("recurrence: the same bits on 1, 2, 3 and 8 threads", "[autograd]") {
  Run<float> run(3, 37, 12, 24), lstm(4, 37, 12, 24, 2);
  Random random(8);
  const auto upstream = random.normal_tensor<float>({37, 12, 24});
  const auto lstm_upstream = random.normal_tensor<float>({37, 12, 48});
  std::vector<std::int32_t> lengths;
  for (int i = 0; i < 37; ++i) lengths.push_back(static_cast<std::int32_t>(random.below(13)));
  check_same_bits(
      [&] { return run(with_lengths(&gru_recurrence<float>, ValidLens(lengths)), upstream); });
  check_same_bits([&] {
    return lstm(with_lengths(&lstm_recurrence<float>, ValidLens(lengths)), lstm_upstream);
  });
}

namespace {

std::vector<GradientCase> gradient_rows() {
  // Four ranges of sequences.
  const std::vector<InputValues> large{{27, 12, 40}, normal({40, 40}, 0.1), {40}, {27, 40}};
  const std::vector<InputValues> large_gru{{27, 12, 72}, normal({72, 24}, 0.1), {72}, {27, 24}};
  const std::vector<InputValues> large_lstm{{27, 12, 96}, normal({96, 24}, 0.1), {96}, {27, 48}};
  return {
      {"tanh_recurrence",
       "of whole sequences",
       {{2, 4, 3}, {3, 3}, {3}, {2, 3}},
       large,
       [](const auto& x) { return tanh_recurrence(x[0], x[1], x[2], x[3]); }},
      {"tanh_recurrence",
       "with lengths, one of them 0",
       {{10, 3, 2}, {2, 2}, {2}, {10, 2}},
       large,
       [](const auto& x) {
         const Shape& inputs = x[0].shape();
         return tanh_recurrence(x[0], x[1], x[2], x[3], random_lengths({inputs[0]}, inputs[1]));
       }},
      {"gru_recurrence",
       "of whole sequences",
       {{2, 4, 9}, {9, 3}, {9}, {2, 3}},
       large_gru,
       [](const auto& x) { return gru_recurrence(x[0], x[1], x[2], x[3]); }},
      {"gru_recurrence",
       "with lengths, one of them 0",
       {{10, 3, 6}, {6, 2}, {6}, {10, 2}},
       large_gru,
       [](const auto& x) {
         const Shape& inputs = x[0].shape();
         return gru_recurrence(x[0], x[1], x[2], x[3], random_lengths({inputs[0]}, inputs[1]));
       }},
      {"lstm_recurrence",
       "of whole sequences",
       {{2, 4, 12}, {12, 3}, {12}, {2, 6}},
       large_lstm,
       [](const auto& x) { return lstm_recurrence(x[0], x[1], x[2], x[3]); }},
      {"lstm_recurrence",
       "with lengths, one of them 0",
       {{10, 3, 8}, {8, 2}, {8}, {10, 4}},
       large_lstm,
       [](const auto& x) {
         const Shape& inputs = x[0].shape();
         return lstm_recurrence(x[0], x[1], x[2], x[3], random_lengths({inputs[0]}, inputs[1]));
       }},
      {"reverse_sequences",
       "of whole sequences",
       {{2, 3, 2}},
       {{27, 60, 40}},
       [](const auto& x) { return reverse_sequences(x[0]); }},
      {"reverse_sequences",
       "with lengths, one of them 0",
       {{3, 4, 2}},
       {{27, 60, 40}},
       [](const auto& x) {
         const Shape& steps = x[0].shape();
         return reverse_sequences(x[0], random_lengths({steps[0]}, steps[1]));
       }},
      {"last_states",
       "of whole sequences",
       {{2, 3, 2}, {2, 2}},
       {{27, 12, 40}, {27, 40}},
       [](const auto& x) { return last_states(x[0], x[1]); }},
      {"last_states",
       "with lengths, one of them 0",
       {{3, 4, 2}, {3, 2}},
       {{27, 12, 40}, {27, 40}},
       [](const auto& x) {
         const Shape& states = x[0].shape();
         return last_states(x[0], x[1], random_lengths({states[0]}, states[1]));
       }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
