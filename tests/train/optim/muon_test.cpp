#include <cmath>
#include <limits>
#include <memory>

#include <weft/autograd/ops/matmul.hpp>
#include <weft/autograd/parallel.hpp>
#include <weft/autograd/random.hpp>
#include <weft/autograd/tape.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/train/optim/clip.hpp>
#include <weft/train/optim/muon.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include "autograd/internal/bf16_emulation.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"
#include "tests/train/affine.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/weights/recorded_state.hpp"

using namespace weft;

namespace {

// Returns a · b for a [m, k] and b [k, n].
Tensor<double> product(const Tensor<double>& a, const Tensor<double>& b) {
  Tape<double> tape;
  return matmul(tape.constant(a), tape.constant(b)).value();
}

Tensor<double> transposed(const Tensor<double>& a) {
  Tensor<double> t({a.shape()[1], a.shape()[0]});
  for (Index i = 0; i < a.shape()[0]; ++i)
    for (Index j = 0; j < a.shape()[1]; ++j) t(j, i) = a(i, j);
  return t;
}

// Orthogonalizes a matrix as published: X ← a X + (b A + c A²) X with A = X Xᵀ.
Tensor<double> orthogonalized(const Tensor<double>& g) {
  if (g.shape()[0] > g.shape()[1]) return transposed(orthogonalized(transposed(g)));
  constexpr double a = 3.4445, b = -4.7750, c = 2.0315;
  double norm = 0.0;
  for (const double value : g) norm += value * value;
  Tensor<double> x = g.clone();
  for (double& value : x) value /= std::sqrt(norm);
  for (int step = 0; step < 5; ++step) {
    const Tensor<double> A = product(x, transposed(x)), A2 = product(A, A);
    Tensor<double> polynomial(A.shape());
    for (Index i = 0; i < A.size(); ++i)
      polynomial.data()[i] = b * std::as_const(A).data()[i] + c * std::as_const(A2).data()[i];
    const Tensor<double> rest = product(polynomial, x);
    for (Index i = 0; i < x.size(); ++i)
      x.data()[i] = a * std::as_const(x).data()[i] + std::as_const(rest).data()[i];
  }
  return x;
}

void fill_with_noise(auto& model, std::uint64_t seed) {
  Random random(seed);
  for (const auto& [name, parameter] : named_parameters(model)) {
    using T = std::remove_cvref_t<decltype(parameter->value()(0, 0))>;
    parameter->set_grad(random.normal_tensor<T>(parameter->shape()));
  }
}

GptOptions small_gpt() {
  return {.vocabulary_size = 11, .max_len = 8, .num_hiddens = 24, .num_heads = 2, .num_blocks = 2};
}

}  // namespace

TEST_CASE("Muon: matrices of several strips, by the published formula", "[train]") {
  for (const Shape& shape : {Shape{50, 83}, {83, 50}, {530, 16}, {64, 64}, {530, 520}}) {
    INFO(shape);
    Affine<double> model(shape, {9});
    Muon optimizer(model, {.lr = 0.1,
                           .momentum = 0.75,
                           .weight_decay = 0.5,
                           .matrices = [](const std::string& name) { return name == "weight"; }});
    Tensor<double> expected(shape), moment(shape);
    const double ratio = static_cast<double>(shape[0]) / static_cast<double>(shape[1]);
    for (std::uint64_t step = 0; step < 3; ++step) {
      fill_with_noise(model, step);
      const Tensor<double> gradient = model.weight.grad();
      Tensor<double> direction(shape);
      for (Index i = 0; i < gradient.size(); ++i) {
        const double g = 0.5 * gradient.data()[i];
        double& m = moment.data()[i];
        m = 0.75 * m + 0.25 * g;
        direction.data()[i] = 0.75 * m + 0.25 * g;
      }
      optimizer.step(0.5);
      const Tensor<double> orthogonal = orthogonalized(direction);
      for (Index i = 0; i < gradient.size(); ++i)
        expected.data()[i] = (1.0 - 0.1 * 0.5) * std::as_const(expected).data()[i] -
                             0.1 * std::sqrt(std::max(1.0, ratio)) * orthogonal.data()[i];
    }
    CHECK(distance(model.weight.value(), expected) < 1e-11);
  }
}

TEST_CASE("Muon: other parameters are updated as by AdamW", "[train]") {
  Affine<double> muon_model({4, 6}, {5}), adam_model({4, 6}, {5});
  Muon muon(muon_model, {.lr = 0.1,
                         .weight_decay = 0.2,
                         .matrices = [](const std::string& name) { return name == "weight"; },
                         .adamw_lr_factor = 0.3,
                         .beta1 = 0.8,
                         .beta2 = 0.9,
                         .eps = 1e-6,
                         .decays = [](auto&, auto&) { return true; }});
  AdamW adam(adam_model, {.lr = 0.03,
                          .beta1 = 0.8,
                          .beta2 = 0.9,
                          .eps = 1e-6,
                          .weight_decay = 0.2,
                          .decays = [](auto&, auto&) { return true; }});
  for (std::uint64_t step = 0; step < 3; ++step) {
    fill_with_noise(muon_model, step);
    fill_with_noise(adam_model, step);
    muon.step();
    adam.step();
  }
  CHECK(distance(muon_model.bias.value(), adam_model.bias.value()) < 1e-15);
  CHECK(distance(muon_model.weight.value(), adam_model.weight.value()) > 1e-3);
}

TEST_CASE("Muon: by default, updates the linear layers of a model's blocks", "[train]") {
  Random random(1);
  for (const bool tied : {true, false}) {
    GptOptions options = small_gpt();
    options.tied = tied;  // if false, a linear layer follows the blocks
    Gpt<float> gpt(options, random);
    Muon optimizer(gpt);
    const RecordedState<float> state(optimizer);
    for (const auto& [name, parameter] : named_parameters(gpt)) {
      INFO(name);
      const bool is_matrix = name.starts_with("blocks.") && parameter->shape().rank() == 2;
      CHECK(state.tensors.contains("first_moment." + name));
      CHECK(state.tensors.contains("second_moment." + name) != is_matrix);
    }
  }
  Gpt<float> gpt(small_gpt(), random);
  Muon optimizer(gpt);
  CHECK(contains(optimizer.description(),
                 "Muon, lr 0.02, momentum 0.95 (Nesterov), adjust_lr "
                 "original, 5 Newton-Schulz steps; AdamW with lr × 0.1"));
  // With a list of parameters, all matrices, as in torch.optim.Muon.
  Muon all(named_parameters(gpt));
  CHECK_FALSE(RecordedState<float>(all).tensors.contains("second_moment.tokens.weight"));
}

TEST_CASE("Muon: groups multiply the learning rate, and have their own weight decay", "[train]") {
  Affine<double> model({3, 4}, {2}), slower({3, 4}, {2});
  const auto matrices = [](const std::string& name) { return name == "weight"; };
  Muon optimizer(model, {.lr = 0.1, .weight_decay = 0.0, .matrices = matrices});
  Muon grouped(slower,
               {.lr = 1.0,
                .matrices = matrices,
                .groups = {{.parameters = every_name, .lr_factor = 0.1, .weight_decay = 0.0}}});
  for (std::uint64_t step = 0; step < 3; ++step) {
    fill_with_noise(model, step);
    fill_with_noise(slower, step);
    optimizer.step();
    grouped.step();
  }
  CHECK(distance(model.weight.value(), slower.weight.value()) < 1e-14);
  CHECK(distance(model.bias.value(), slower.bias.value()) < 1e-14);
}

TEST_CASE("Muon: a gradient of zeros leaves a matrix in place", "[train]") {
  Affine<float> model({3, 4}, {2});
  model.weight.set_value(Tensor<float>::full({3, 4}, 2.0f));
  Muon optimizer(named_parameters(model), {.weight_decay = 0.0});
  model.weight.set_grad(Tensor<float>({3, 4}));
  optimizer.step();
  for (const float value : model.weight.value()) CHECK(value == 2.0f);
}

TEST_CASE("Muon: same bits on 1, 2, 3 and 8 threads", "[train]") {
  // One large matrix uses all threads; of several, each uses one.
  check_same_bits([] {
    Affine<float> model({211, 157}, {19});
    Muon optimizer(named_parameters(model));
    for (std::uint64_t step = 0; step < 3; ++step) {
      fill_with_noise(model, step);
      optimizer.step(clip_factor(optimizer.grad_norm(), 0.5));
    }
    return std::vector{model.weight.value(), model.bias.value()};
  });
  check_same_bits([] {
    Random random(1);
    Gpt<float> gpt(small_gpt(), random);
    Muon optimizer(gpt);
    for (std::uint64_t step = 0; step < 3; ++step) {
      fill_with_noise(gpt, step);
      optimizer.step();
    }
    std::vector<Tensor<float>> values;
    for (const auto& [name, parameter] : named_parameters(gpt))
      values.push_back(parameter->value());
    return values;
  });
}

TEST_CASE("Muon: bf16 products change a step by their rounding errors only", "[train]") {
  const EmulateBf16 emulation;
  for (const Shape& shape : {Shape{40, 70}, {70, 40}}) {
    Affine<float> full(shape, {2}), rounded(shape, {2});
    Muon exact(named_parameters(full), {.lr = 1.0, .weight_decay = 0.0});
    Muon bf16(named_parameters(rounded),
              {.lr = 1.0, .weight_decay = 0.0, .precision = Precision::bf16});
    for (std::uint64_t step = 0; step < 2; ++step) {
      fill_with_noise(full, step);
      fill_with_noise(rounded, step);
      exact.step();
      bf16.step();
    }
    const double error = distance(full.weight.value(), rounded.weight.value());
    CHECK(error > 1e-6);
    CHECK(error < 0.1);
  }
}

TEST_CASE("Muon: without bf16 products, bf16 is the same as full precision", "[train]") {
  if (is_supported(Precision::bf16)) return;
  Affine<float> full({80, 170}, {2}), bf16({80, 170}, {2});
  Muon optimizer(named_parameters(full)),
      other(named_parameters(bf16), {.precision = Precision::bf16});
  fill_with_noise(full, 1);
  fill_with_noise(bf16, 1);
  optimizer.step();
  other.step();
  CHECK(distance(full.weight.value(), bf16.weight.value()) == 0.0);
}

TEST_CASE("Muon: a training continues from a checkpoint, bit for bit", "[train]") {
  const TemporaryFolder folder;
  Random random(1);
  Gpt<float> gpt(small_gpt(), random), other(small_gpt(), random);
  Muon optimizer(gpt), loaded(other);
  const auto step = [](Gpt<float>& model, Muon<float>& with, std::uint64_t seed) {
    fill_with_noise(model, seed);
    with.step();
  };
  step(gpt, optimizer, 1);
  save_checkpoint(folder / "model.h5", gpt, {{"optimizer", optimizer}});
  load_checkpoint(folder / "model.h5", other, {{"optimizer", loaded}});
  step(gpt, optimizer, 2);
  step(other, loaded, 2);
  for (std::size_t i = 0; i < optimizer.parameters().size(); ++i)
    CHECK(distance(optimizer.parameters()[i].parameter->value(),
                   loaded.parameters()[i].parameter->value()) == 0.0);
  AdamW adam(other);
  CHECK_THROWS_AS(load_checkpoint(folder / "model.h5", other, {{"optimizer", adam}}), FileError);
}

TEST_CASE("Muon: options outside their ranges throw", "[train]") {
  constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
  Affine<float> model({2, 3}, {3});
  const NamedParameters<float> all = named_parameters(model);
  CHECK_THROWS_WITH(Muon(model),
                    "Muon: expected a model with Linear layers in a list, or the option matrices, "
                    "got neither");
  CHECK_THROWS_WITH(Muon(model, {.matrices = every_name}),
                    "Muon: matrix bias: expected two axes, got [3]");
  CHECK_THROWS_WITH(Muon(model, {.matrices = below("output")}),
                    "Muon: matrices: expected at least one selected parameter, got none");
  CHECK_THROWS_WITH(Muon(all, {.momentum = 1.0}),
                    "Muon: momentum: expected 0 ≤ momentum < 1, got 1");
  CHECK_THROWS_AS(Muon(all, {.momentum = not_a_number}), ValueError);
  CHECK_THROWS_WITH(Muon(all, {.ns_steps = 0}),
                    "Muon: ns_steps: expected a number from 1 to 100, got 0");
  CHECK_THROWS_WITH(Muon(all, {.ns_eps = 0.0}), "Muon: ns_eps: expected a number > 0, got 0");
  CHECK_THROWS_AS(Muon(all, {.ns_coefficients = {1.0, not_a_number, 1.0}}), ValueError);
  CHECK_THROWS_AS(Muon(all, {.adamw_lr_factor = -1.0}), ValueError);
  CHECK_THROWS_AS(Muon(all, {.adjust_lr = static_cast<AdjustLr>(9)}), ValueError);
  CHECK_THROWS_WITH(Muon(all, {.lr = -1.0}), "learning rate: expected a finite number ≥ 0, got -1");
  Affine<double> in_double({2, 3}, {3});
  CHECK_THROWS_WITH(Muon(named_parameters(in_double), {.precision = Precision::bf16}),
                    "Muon: precision: expected full for numbers of type double, got bf16");
}

TEST_CASE("Muon: a process can't own a part of a matrix", "[train]") {
  Affine<float> model({30, 40}, {3});
  Muon optimizer(named_parameters(model));
  OptimizerSlices<float> slices;
  slices.sequence.add({0, 0, 600});
  CHECK_THROWS_WITH(optimizer.set_slices(std::move(slices)),
                    "Muon: slice of weight: expected the whole parameter, got 600 elements");
}

TEST_CASE("parameter elements: ranges contain whole undivided parameters", "[train]") {
  Affine<float> model({300, 500}, {100'000});
  const ParameterElements<float> elements(
      named_parameters(model),
      [](const std::string& name, const Shape&) { return name == "weight"; });
  REQUIRE(elements.num_ranges() > 2);
  CHECK(elements.range_begin(1) == 150'000);
  CHECK(elements.range_begin(elements.num_ranges()) == elements.size());
  CHECK(elements.is_undivided(0));
  CHECK_FALSE(elements.is_undivided(1));
}
