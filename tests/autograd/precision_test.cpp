#include "weft/autograd/precision.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <weft/autograd.hpp>
#include "autograd/internal/bf16_emulation.hpp"
#include "autograd/internal/bfloat16.hpp"
#include "autograd/kernels/library_product.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

struct Bf16Tape {
  EmulateBf16 emulation;
  Tape<float> tape{TapeOptions{.precision = Precision::bf16}};
};

double rounded(double x) {
  return static_cast<double>(float_of_bfloat16(bfloat16_of(static_cast<float>(x))));
}

// The elements rounded to bf16, in double.
Tensor<double> rounded(const Tensor<float>& x) {
  Tensor<double> result(x.shape());
  std::transform(x.begin(), x.end(), result.begin(),
                 [](float value) { return rounded(static_cast<double>(value)); });
  return result;
}

// y and the gradients of all inputs of an operation, given dy.
template <class T>
using Operation = std::function<Var<T>(const std::vector<Var<T>>&)>;
template <class T>
std::vector<Tensor<T>> results_of(Tape<T>& tape, const Operation<T>& operation,
                                  const std::vector<Tensor<T>>& inputs, const Tensor<T>& dy) {
  std::vector<Var<T>> variables;
  for (const Tensor<T>& input : inputs) variables.push_back(tape.variable(input.clone()));
  const Var<T> y = operation(variables);
  std::vector<Tensor<T>> results = tape.gradients(y, dy, variables);
  results.push_back(y.value());
  return results;
}

// An operation of one product of its inputs: that of bf16 tapes is the exact one of rounded inputs,
// and its gradients are the exact ones for a rounded dy.
void check_product(const Operation<float>& operation, const Operation<double>& reference,
                   const std::vector<Shape>& inputs, const Shape& result) {
  Random random(5);
  std::vector<Tensor<float>> values;
  std::vector<Tensor<double>> rounded_values;
  for (const Shape& shape : inputs) {
    values.push_back(random.normal_tensor<float>(shape));
    rounded_values.push_back(rounded(values.back()));
  }
  const auto dy = random.normal_tensor<float>(result);
  Bf16Tape bf16;
  Tape<double> tape;
  const auto actual = results_of<float>(bf16.tape, operation, values, dy);
  const auto expected = results_of<double>(tape, reference, rounded_values, rounded(dy));
  for (std::size_t i = 0; i < actual.size(); ++i) {
    INFO("result " << i);
    CHECK(distance(actual[i], expected[i]) < 1e-6);
  }
}

template <class T>
Operation<T> transposed_matmul(bool transpose_a, bool transpose_b) {
  return [=](const std::vector<Var<T>>& x) {
    return matmul(x[0], x[1], {.transpose_a = transpose_a, .transpose_b = transpose_b});
  };
}

}  // namespace

TEST_CASE("precision: linear rounds the inputs of its products to bf16", "[autograd][bf16]") {
  // One tile and several.
  for (const Index rows : {17, 40, 600})
    check_product([](const auto& x) { return linear(x[0], x[1]); },
                  [](const auto& x) { return linear(x[0], x[1]); }, {{rows, 390}, {70, 390}},
                  {rows, 70});
  check_product([](const auto& x) { return linear(x[0], x[1], Activation::relu); },
                [](const auto& x) { return linear(x[0], x[1], Activation::relu); },
                {{40, 30}, {50, 30}}, {40, 50});
}

TEST_CASE("precision: a bias and its gradient are not rounded", "[autograd][bf16]") {
  Bf16Tape bf16;
  Tape<float>& tape = bf16.tape;
  const Var<float> bias = tape.variable(Tensor<float>({1}, {0x1.000002p0F}));
  const Var<float> y =
      linear(tape.constant(Tensor<float>({1, 1})), tape.constant(Tensor<float>({1, 1})), bias);
  CHECK(y.item() == 0x1.000002p0F);
  const auto gradients = tape.gradients(y, Tensor<float>({1, 1}, {0x1.000004p0F}), {bias});
  CHECK(gradients[0].item() == 0x1.000004p0F);
}

TEST_CASE("precision: matmul rounds its inputs to bf16", "[autograd][bf16]") {
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true}) {
      INFO("transposed " << transpose_a << transpose_b);
      const auto pair = [](Index batch, Index rows, Index columns, bool transposed) {
        return transposed ? Shape{batch, columns, rows} : Shape{batch, rows, columns};
      };
      check_product(transposed_matmul<float>(transpose_a, transpose_b),
                    transposed_matmul<double>(transpose_a, transpose_b),
                    {pair(70, 20, 33, transpose_a), pair(70, 33, 18, transpose_b)}, {70, 20, 18});
    }
}

// The steps of attention in double, with one head, rounding what its products read.
TEST_CASE("precision: attention rounds the inputs of its products to bf16", "[autograd][bf16]") {
  constexpr Index queries = 90, keys = 90, size = 24;  // several tiles of queries
  Random random(6);
  const auto q = random.normal_tensor<float>({1, queries, size}),
             k = random.normal_tensor<float>({1, keys, size}),
             v = random.normal_tensor<float>({1, keys, size}),
             dy = random.normal_tensor<float>({1, queries, size});
  const Tensor<double> rq = rounded(q), rk = rounded(k), rv = rounded(v), rdy = rounded(dy);
  Tensor<double> y({1, queries, size}), dq({1, queries, size}), dk({1, keys, size}),
      dv({1, keys, size});
  const double scale = 1.0 / std::sqrt(static_cast<double>(size));
  for (Index i = 0; i < queries; ++i) {
    const Index visible = i + 1;  // causal
    std::vector<double> scores, weights;
    for (Index j = 0; j < visible; ++j) {
      double score = 0.0;
      for (Index c = 0; c < size; ++c) score += rq(0, i, c) * rk(0, j, c);
      scores.push_back(scale * score);
    }
    const double largest = *std::max_element(scores.begin(), scores.end());
    double sum = 0.0;
    for (Index j = 0; j < visible; ++j) {
      const double weight = std::exp(scores[static_cast<std::size_t>(j)] - largest);
      sum += weight;
      weights.push_back(weight);
      for (Index c = 0; c < size; ++c) y(0, i, c) += rounded(weight) * rv(0, j, c);
    }
    double dy_y = 0.0;
    for (Index c = 0; c < size; ++c) {
      y(0, i, c) /= sum;
      dy_y += static_cast<double>(dy(0, i, c)) * y(0, i, c);
    }
    for (Index j = 0; j < visible; ++j) {
      const double weight = weights[static_cast<std::size_t>(j)] / sum;
      double dp = 0.0;
      for (Index c = 0; c < size; ++c) {
        dv(0, j, c) += rounded(weight) * rdy(0, i, c);
        dp += rdy(0, i, c) * rv(0, j, c);
      }
      const double ds = rounded(scale * weight * (dp - dy_y));
      for (Index c = 0; c < size; ++c) {
        dq(0, i, c) += ds * rk(0, j, c);
        dk(0, j, c) += ds * rq(0, i, c);
      }
    }
  }

  Bf16Tape bf16;
  const auto actual = results_of<float>(
      bf16.tape,
      [](const auto& x) {
        return scaled_dot_product_attention<float>(x[0], x[1], x[2], {.mask = {.causal = true}});
      },
      {q, k, v}, dy);
  const std::vector<Tensor<double>> expected = {dq, dk, dv, y};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("result " << i);
    // A weight next to the middle of two numbers may be rounded the other way, so the mean counts:
    // without rounding it is above 5e-4.
    double difference = 0.0;
    for (Index e = 0; e < expected[i].size(); ++e)
      difference += std::abs(static_cast<double>(actual[i].data()[e]) - expected[i].data()[e]);
    CHECK(difference / static_cast<double>(expected[i].size()) < 2e-6);
  }
}

TEST_CASE("precision: large tensors are rounded to bf16 for backward", "[autograd][bf16]") {
  const auto silu = [](const auto& x) { return gated(x[0], x[1], Activation::silu); };
  for (const Index rows : {60, 70}) {
    INFO(rows << " rows of 1000");
    Random random(8);
    const auto make = [&] { return random.normal_tensor<float>({rows, 1000}); };
    const std::vector<Tensor<float>> inputs = {make(), make()};
    const Tensor<float> dy = make();
    Bf16Tape bf16;
    Tape<float> full;
    Tape<double> reference;
    const auto actual = results_of<float>(bf16.tape, silu, inputs, dy);
    const auto exact = results_of<float>(full, silu, inputs, dy);
    Tensor<double> wide_dy(dy.shape());
    std::copy(dy.begin(), dy.end(), wide_dy.begin());
    const auto expected =
        results_of<double>(reference, silu, {rounded(inputs[0]), rounded(inputs[1])}, wide_dy);
    CHECK(same(actual[2], exact[2]));  // y is not rounded
    for (const std::size_t i : {0U, 1U}) {
      CHECK(same(actual[i], exact[i]) == (rows == 60));
      if (rows == 70) CHECK(distance(actual[i], expected[i]) < 1e-6);
    }
  }

  // Attention in several tiles of queries and keys, and the slope of an activation.
  const Operation<float> attend = [](const auto& x) {
    return scaled_dot_product_attention(x[0], x[1], x[2], {.num_heads = 2});
  };
  const Operation<float> gelu = [](const auto& x) {
    const Shape square{96, 96};
    return linear(x[0], reshape(slice(x[1], 1, 0, 96), square), Activation::gelu) + x[2];
  };
  // Rows of 1050 slopes are rounded in several parts.
  const Operation<float> wide_gelu = [](const auto& x) {
    const Var<float> input = slice(reshape(x[0], {1050, 64}), 0, 0, 64);
    const Var<float> y = linear(input, reshape(x[1], {1050, 64}), Activation::gelu);
    return reshape(y, {1, 700, 96}) + x[2];
  };
  for (const Operation<float>& operation : {attend, gelu, wide_gelu}) {
    Random random(9);
    const auto make = [&] { return random.normal_tensor<float>({1, 700, 96}); };
    const std::vector<Tensor<float>> inputs = {make(), make(), make()};
    const Tensor<float> dy = make();
    Bf16Tape bf16;
    Tape<float> full;
    const auto actual = results_of<float>(bf16.tape, operation, inputs, dy);
    const auto exact = results_of<float>(full, operation, inputs, dy);
    for (std::size_t i = 0; i < actual.size(); ++i) CHECK(distance(actual[i], exact[i]) < 2e-2);
  }
}

TEST_CASE("precision: large tensors take half the memory until backward", "[autograd][bf16]") {
  const auto bytes_in_use = [](Precision precision) {
    const EmulateBf16 emulation;
    Tape<float> tape({.precision = precision});
    const Var<float> x = tape.variable(Tensor<float>::full({1, 700, 96}, 0.5F));
    const std::size_t before = tape.memory().bytes_in_use;
    const auto temporary = [&] { return 2.0 * x; };
    const Var<float> gate = mean(gated(temporary(), temporary(), Activation::silu));
    const Var<float> attention =
        mean(scaled_dot_product_attention<float>(temporary(), temporary(), temporary(), {}));
    const Var<float> weight = tape.variable(Tensor<float>({96, 96}));
    const Var<float> product = mean(linear(temporary(), weight, Activation::gelu));
    return tape.memory().bytes_in_use - before;
  };
  // 2 tensors for gated, 4 for attention and 2 for linear.
  const std::size_t bytes = 8 * 700 * 96 * sizeof(float);
  const std::size_t full = bytes_in_use(Precision::full), bf16 = bytes_in_use(Precision::bf16);
  CHECK(full > bytes);
  CHECK(bf16 > bytes / 2);
  CHECK(full - bf16 > bytes * 9 / 20);
}

TEST_CASE("precision: small products and those of a few rows are not rounded", "[autograd][bf16]") {
  const auto product = [](Precision precision, Index rows, Index size) {
    Random random(4);
    Tape<float> tape({.recording = false, .precision = precision});
    const auto x = random.normal_tensor<float>({rows, size});
    const auto w = random.normal_tensor<float>({size, size});
    return linear(tape.constant(x), tape.constant(w)).value();
  };
  const auto is_rounded = [&](Index rows, Index size) {
    return distance(product(Precision::bf16, rows, size), product(Precision::full, rows, size)) > 0;
  };
  CHECK(!is_rounded(32, 32));
  CHECK(!is_rounded(16, 512));
  CHECK(!is_rounded(24, 512));
  CHECK(is_rounded(128, 128) == has_bf16_product());
  const EmulateBf16 emulation;
  CHECK(!is_rounded(16, 512));
  CHECK(is_rounded(32, 32));
}

TEST_CASE("precision: names and errors", "[autograd][bf16]") {
  CHECK(enum_from_name("precision", "bf16", precision_names) == Precision::bf16);
  CHECK(is_supported(Precision::full));
  CHECK(message_of<ValueError>([] { Tape<double>({.precision = Precision::bf16}); }) ==
        "tape: precision: expected full for numbers of type double, got bf16");
}

TEST_CASE("bf16: a pass uses the weights as they are after an update", "[autograd][bf16]") {
  Random random(7);
  Parameter<float> weight(random.normal_tensor<float>({40, 50}));
  const Tensor<float> x = random.normal_tensor<float>({30, 50});
  // y, and dx for dy = y.
  const auto results = [&](const Parameter<float>& w) {
    Bf16Tape pass;
    const Var<float> input = pass.tape.variable(x);
    const Var<float> y = linear(input, pass.tape.parameter(w));
    return std::vector{y.value(), pass.tape.gradients(y, y.value(), {input})[0]};
  };
  const auto check_as_new = [&] {
    const auto kept = results(weight), expected = results(Parameter<float>(weight.value().clone()));
    for (std::size_t i = 0; i < kept.size(); ++i) CHECK(std::ranges::equal(kept[i], expected[i]));
    return kept[0];
  };
  const Tensor<float> before = check_as_new();
  for (float& element : weight.values()) element *= 1.5F;
  const Tensor<float> after = check_as_new();
  CHECK_FALSE(std::ranges::equal(before, after));
  weight(3, 4) = 9.0F;
  check_as_new();
  weight.set_value(random.normal_tensor<float>({40, 50}));
  check_as_new();
}
