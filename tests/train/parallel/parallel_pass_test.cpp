#include <cmath>
#include <limits>
#include <memory>

#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/dropout.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/recompute.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/train/parallel/parallel_pass.hpp>
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"
#include "tests/train/toy_training.hpp"

using namespace weft;

namespace {

// The gradients of a batch of six examples that is computed in `parts` parts.
template <class T>
struct GradientsInParts {
  explicit GradientsInParts(Index parts, double dropout_probability = 0.0) {
    ToyTraining<T> toy(6, 6);
    const PairBatch batch = toy.batches.batch(0, 0);
    ParallelPass<T> pass(named_parameters(toy.model), parts, {.training = true, .seed = 4});
    loss = pass.add_gradients(2, parts, [&](Tape<T>& tape, Index part) {
      const PairBatch examples = part_of(batch, part * 6 / parts, (part + 1) * 6 / parts);
      return scale(
          toy.loss(tape, examples, dropout_probability),
          static_cast<double>(num_labels(examples)) / static_cast<double>(num_labels(batch)));
    });
    for (const auto& [name, parameter] : named_parameters(toy.model))
      gradients.push_back(parameter->grad());
  }
  double loss = 0.0;
  std::vector<Tensor<T>> gradients;
};

}  // namespace

TEST_CASE("parallel pass: the gradients of the parts add up to those of the whole", "[train]") {
  const GradientsInParts<double> whole(1);
  for (const Index parts : {2, 3, 6}) {
    const GradientsInParts<double> in_parts(parts);
    CHECK(std::abs(in_parts.loss - whole.loss) < 1e-14);
    for (std::size_t i = 0; i < whole.gradients.size(); ++i)
      for (Index j = 0; j < whole.gradients[i].size(); ++j)
        CHECK(std::abs(in_parts.gradients[i].data()[j] - whole.gradients[i].data()[j]) < 1e-14);
  }
}

TEST_CASE("parallel pass: the same bits on any number of threads", "[train]") {
  check_same_bits([] { return GradientsInParts<float>(3, 0.3).gradients; });
}

TEST_CASE("parallel pass: adds to existing gradients", "[train]") {
  Parameter<double> a(Tensor<double>({1}, {3.0}));
  ParallelPass<double> pass({{"a", &a}}, 2, {.training = true});
  const auto times_two = [&](Tape<double>& tape, Index) { return scale(tape.parameter(a), 2.0); };
  CHECK(pass.add_gradients(0, 2, times_two) == 12.0);
  CHECK(a.grad().item() == 4.0);
  CHECK(pass.add_gradients(1, 1, times_two) == 6.0);
  CHECK(a.grad().item() == 6.0);
  a.zero_grad();
  pass.add_gradients(2, 2, times_two);
  CHECK(a.grad().item() == 4.0);
}

TEST_CASE("parallel pass: a parameter that only a later part uses gets its gradient", "[train]") {
  Parameter<double> a(Tensor<double>({1}, {3.0})), b(Tensor<double>({1}, {5.0}));
  ParallelPass<double> pass({{"a", &a}, {"b", &b}}, 2, {.training = true});
  pass.add_gradients(
      0, 2, [&](Tape<double>& tape, Index part) { return tape.parameter(part == 0 ? a : b); });
  CHECK(a.grad().item() == 1.0);
  CHECK(b.grad().item() == 1.0);
}

TEST_CASE("parallel pass: the zero of a part that alone has a gradient keeps its sign", "[train]") {
  Parameter<double> a(Tensor<double>({1}, {3.0})), b(Tensor<double>({1}, {5.0}));
  ParallelPass<double> pass({{"a", &a}, {"b", &b}}, 4, {.training = true});
  pass.add_gradients(0, 4, [&](Tape<double>& tape, Index part) {
    return part == 3 ? scale(tape.parameter(a), -0.0) : tape.parameter(b);
  });
  CHECK(a.grad().item() == 0.0);
  CHECK(std::signbit(a.grad().item()));
}

TEST_CASE("parallel pass: the sums of both halves of the parts are added", "[train]") {
  Parameter<double> a(Tensor<double>({1}, {3.0}));
  ParallelPass<double> pass({{"a", &a}}, 4, {.training = true});
  // One after the other, 2⁻⁵³ would be lost twice.
  const double small = std::ldexp(1.0, -53);
  pass.add_gradients(0, 4, [&](Tape<double>& tape, Index part) {
    return scale(tape.parameter(a), part == 0 ? 1.0 : part == 1 ? 0.0 : small);
  });
  CHECK(a.grad().item() == 1.0 + 2.0 * small);
}

TEST_CASE("parallel pass: every part has its own random numbers", "[train]") {
  std::vector<std::uint32_t> steps(6);
  Parameter<float> a(Tensor<float>({1}, {3.0F}));
  ParallelPass<float> pass({{"a", &a}}, 3, {.training = true});
  for (const std::uint32_t step : {0U, 1U})
    pass.add_gradients(step, 3, [&](Tape<float>& tape, Index part) {
      steps[static_cast<std::size_t>(static_cast<Index>(step) * 3 + part)] = tape.step();
      return tape.parameter(a);
    });
  CHECK(steps == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("parallel pass: with dropout, the gradients of the parts one after the other",
          "[train]") {
  for (const Index parts : {2, 3}) {
    INFO(parts << " parts");
    const GradientsInParts<double> in_parts(parts, 0.3);
    ToyTraining<double> toy(6, 6);
    const PairBatch batch = toy.batches.batch(0, 0);
    Tape<double> tape({.training = true, .seed = 4});
    double sum = 0.0;
    for (Index part = 0; part < parts; ++part) {
      tape.set_step(static_cast<std::uint32_t>(2 * parts + part));
      const PairBatch part_batch = part_of(batch, part * 6 / parts, (part + 1) * 6 / parts);
      const Var<double> loss =
          scale(toy.loss(tape, part_batch, 0.3), static_cast<double>(num_labels(part_batch)) /
                                                     static_cast<double>(num_labels(batch)));
      sum += loss.item();
      tape.backward(loss);
    }
    CHECK(std::abs(in_parts.loss - sum) < 1e-14);
    const NamedParameters<double> parameters = named_parameters(toy.model);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      CHECK(distance(in_parts.gradients[i], parameters[i].parameter->grad()) < 1e-13);
  }
}

TEST_CASE("parallel pass: gradients of several parts over several ranges of elements", "[train]") {
  Random random(6);
  // Ranges of 16384 elements end within both parameters.
  Parameter<double> a(random.normal_tensor<double>({170, 200}));
  Parameter<double> b(random.normal_tensor<double>({22'001}));
  std::vector<Tensor<double>> weights_a, weights_b;
  for (int part = 0; part < 3; ++part) {
    weights_a.push_back(random.normal_tensor<double>(a.shape()));
    weights_b.push_back(random.normal_tensor<double>(b.shape()));
  }
  ParallelPass<double> pass({{"a", &a}, {"b", &b}}, 3, {.training = true});
  pass.add_gradients(0, 3, [&](Tape<double>& tape, Index part) {
    const auto i = static_cast<std::size_t>(part);
    return sum(tape.parameter(a) * tape.constant(weights_a[i])) +
           sum(tape.parameter(b) * tape.constant(weights_b[i]));
  });
  const auto check_sum = [](const Tensor<double>& gradient, const auto& parts) {
    Tensor<double> expected(gradient.shape());
    for (const Tensor<double>& part : parts)
      std::transform(part.begin(), part.end(), expected.begin(), expected.begin(),
                     std::plus<double>());
    CHECK(distance(gradient, expected) < 1e-14);
  };
  check_sum(a.grad(), weights_a);
  check_sum(b.grad(), weights_b);
}

TEST_CASE("parallel pass: parts that recompute give the gradients of parts that do not",
          "[train]") {
  const auto gradient = [](bool recomputes) {
    Parameter<double> a(Random(7).normal_tensor<double>({40}));
    ParallelPass<double> pass({{"a", &a}}, 3, {.training = true, .seed = 9});
    const auto run = [&](Tape<double>& tape, Index part) {
      const auto squared = [&a](const Var<double>& x) {
        return dropout(x * x.tape().parameter(a) * x.tape().parameter(a), 0.3);
      };
      const Var<double> x =
          tape.constant(Tensor<double>::full({40}, 1.0 + static_cast<double>(part)));
      return sum(recomputes ? recompute(squared, x) : squared(x));
    };
    for (const std::uint32_t step : {0U, 1U}) pass.add_gradients(step, 3, run);
    return a.grad().clone();
  };
  CHECK(distance(gradient(true), gradient(false)) < 1e-14);
}

TEST_CASE("parallel pass: invalid arguments throw", "[train]") {
  Parameter<float> a(Tensor<float>({1}, {3.0F})), other(Tensor<float>({1}, {3.0F}));
  CHECK(message_of<ValueError>([&] {
          ParallelPass<float>({{"a", &a}}, 0, {});
        }) == "parallel pass: parts: expected a value from 1 to 4096, got 0");
  CHECK_THROWS_AS(ParallelPass<float>({{"a", &a}}, std::numeric_limits<Index>::max(), {}),
                  ValueError);
  ParallelPass<float> pass({{"a", &a}}, 2, {.training = true});
  const auto use_other = [&](Tape<float>& tape, Index) { return tape.parameter(other); };
  CHECK(message_of<ValueError>([&] { pass.add_gradients(0, 3, use_other); }) ==
        "parallel pass: parts: expected a value from 1 to 2, got 3");
  // The second part has no gradient store for a parameter that was not passed to the constructor.
  CHECK(message_of<Error>([&] { pass.add_gradients(0, 2, use_other); }) ==
        "parallel pass: expected a parameter passed to the constructor, got a different parameter "
        "of shape [1] (does the model's `members` name it?)");
  const auto recompute_other = [&](Tape<float>& tape, Index) {
    const auto part = [&](const Var<float>& x) { return x * x.tape().parameter(other); };
    return recompute(part, tape.parameter(a));
  };
  CHECK_THROWS_AS(pass.add_gradients(0, 2, recompute_other), Error);
  // A loss that is not finite is returned, and does not affect the next pass.
  const double loss = pass.add_gradients(0, 2, [&](Tape<float>& tape, Index part) {
    return scale(tape.parameter(a), part == 1 ? std::numeric_limits<double>::quiet_NaN() : 1.0);
  });
  CHECK(std::isnan(loss));
  a.zero_grad();
  pass.add_gradients(0, 2, [&](Tape<float>& tape, Index) { return tape.parameter(a); });
  CHECK(a.grad().item() == 2.0F);
}

TEST_CASE("parallel pass: follows parameters that are moved, and throws for one that was removed",
          "[train]") {
  auto a = std::make_unique<Parameter<double>>(Tensor<double>({1}, {3.0}));
  ParallelPass<double> pass({{"a", a.get()}}, 2, {.training = true});
  Parameter<double> moved = std::move(*a);
  a.reset();
  const auto loss = [](const Parameter<double>& parameter) {
    return [&](Tape<double>& tape, Index) { return sum(tape.parameter(parameter)); };
  };
  CHECK(pass.add_gradients(0, 2, loss(moved)) == 6.0);
  CHECK(moved.grad().item() == 2.0);
  {
    const Parameter<double> elsewhere = std::move(moved);
    CHECK(pass.add_gradients(0, 1, loss(elsewhere)) == 3.0);
    CHECK(elsewhere.grad().item() == 3.0);
  }
  const Parameter<double> another(Tensor<double>({1}, {3.0}));
  CHECK(message_of<Error>([&] { pass.add_gradients(0, 2, loss(another)); }) ==
        "parallel pass: parameter a: expected an existing parameter, got a removed or replaced "
        "parameter (see merge_lora and remove_lora)");
}
