#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/autograd/parallel.hpp>
#include <weft/autograd/random.hpp>
#include <weft/layers/freeze.hpp>
#include <weft/layers/lora.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/train/moving_average.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/optim/clip.hpp>
#include <weft/train/optim/muon.hpp>
#include <weft/train/optim/optimizer.hpp>
#include <weft/train/optim/rmsprop.hpp>
#include <weft/train/optim/sgd.hpp>
#include <weft/train/parallel/parallel_pass.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"
#include "tests/train/affine.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/weights/recorded_state.hpp"

using namespace weft;

namespace {

template <class T>
void fill_with_noise(Affine<T>& model, std::uint64_t seed) {
  Random random(seed);
  for (Parameter<T>* parameter : {&model.weight, &model.bias})
    parameter->set_grad(random.normal_tensor<T>(parameter->shape()));
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

// Returns a weight of ones after one step of the optimizer `create(weight, bias)`.
template <class Create>
Tensor<double> stepped(const Create& create) {
  Affine<double> model({2, 3}, {3});
  model.weight.set_value(Tensor<double>::full({2, 3}, 1.0));
  fill_with_noise(model, 5);
  auto optimizer = create(model.weight, model.bias);
  optimizer.step();
  return model.weight.value();
}

}  // namespace

TEMPLATE_TEST_CASE("optimizer: takes parameters with names, in a list and in a vector", "[train]",
                   SGD<double>, Adam<double>, AdamW<double>, RMSprop<double>, Muon<double>) {
  const Tensor<double> named = stepped([](auto& weight, auto& bias) {
    return TestType(NamedParameters<double>{{"weight", &weight}, {"bias", &bias}}, {.lr = 0.1});
  });
  CHECK_FALSE(same(named, Tensor<double>::full({2, 3}, 1.0)));
  CHECK(same(stepped([](auto& weight, auto& bias) {
               return TestType({&weight, &bias}, {.lr = 0.1});
             }),
             named));
  CHECK(same(stepped([](auto& weight, auto& bias) {
               return TestType(std::vector{&weight, &bias}, {.lr = 0.1});
             }),
             named));
}

TEST_CASE("optimizer: type arguments are deduced from the model", "[train]") {
  Affine<float> model({2, 3}, {3});
  AdamW optimizer(model, {.lr = 1e-3f, .weight_decay = 0.1f});
  CHECK(std::is_same_v<decltype(optimizer), AdamW<float>>);
  SGD sgd(model, {.lr = 0.1});
  CHECK(sgd.learning_rate() == 0.1);
}

TEST_CASE("optimizer: the description counts parameters with and without weight decay", "[train]") {
  Affine<float> model({2, 3}, {3});
  CHECK(AdamW(model, {.lr = 0.25, .weight_decay = 0.5}).description() ==
        "AdamW, lr 0.25, betas 0.9 and 0.999, eps 1e-08, weight decay 0.5 on 6 parameters in 1 "
        "tensor, none on 3 parameters in 1 tensor");
  CHECK(
      AdamW(model, {.decays = [](const std::string& name, const Shape&) { return name == "bias"; }})
          .description()
          .find("0.01 on 3 parameters") != std::string::npos);
  CHECK(Adam(model).description().find("weight decay 0 on 0 parameters") != std::string::npos);
  CHECK(SGD(model, {.lr = 0.5, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true})
            .description() ==
        "SGD, lr 0.5, momentum 0.9 (Nesterov), weight decay 0.1 on 9 parameters in 2 tensors, none "
        "on 0 parameters in 0 tensors");
}

TEST_CASE("optimizer: a step clears the gradients", "[train]") {
  Affine<double> model({2, 3}, {3});
  SGD optimizer(model, {.lr = 1.0});
  model.weight.set_grad(Tensor<double>::full(model.weight.shape(), 1.0));
  optimizer.step();
  CHECK_FALSE(model.weight.has_grad());
  optimizer.step();
  CHECK(model.weight.value()(0, 0) == -1.0);
}

TEST_CASE("optimizer: a parameter without a gradient is unchanged", "[train]") {
  Affine<double> model({2, 3}, {3});
  std::ranges::fill(model.bias.values(), 2.0);
  AdamW optimizer(model, {.weight_decay = 0.1, .decays = [](auto&, auto&) { return true; }});
  model.weight.set_grad(Tensor<double>::full(model.weight.shape(), 1.0));
  optimizer.step();
  for (double value : model.bias.value()) CHECK(value == 2.0);
}

TEST_CASE("optimizer: a parameter or gradient of another shape than before throws", "[train]") {
  Affine<double> model({2, 3}, {3});
  AdamW optimizer(model);
  fill_with_noise(model, 1);
  const Tensor<double> weight = model.weight.value();
  model.bias = Parameter<double>(Tensor<double>({1000}));
  CHECK_THROWS_WITH(optimizer.step(), "AdamW: parameter bias: expected [3], got [1000]");
  CHECK_THROWS_WITH(optimizer.grad_norm(),
                    "gradient norm: parameter bias: expected [3], got [1000]");
  CHECK(std::equal(weight.begin(), weight.end(), model.weight.value().begin()));
  CHECK(optimizer.steps() == 0);
  CHECK(model.weight.has_grad());
}

TEST_CASE("optimizer: leaves values and gradients that were read before as they were", "[train]") {
  Affine<float> model({200, 300}, {300});
  AdamW optimizer(model);
  fill_with_noise(model, 1);
  const Tensor<float> before = model.weight.value(), gradient = model.weight.grad();
  const std::vector<float> numbers(before.begin(), before.end()),
      slopes(gradient.begin(), gradient.end());
  clip_grad_norm(model, 1e-3);
  optimizer.step();
  CHECK(std::equal(numbers.begin(), numbers.end(), before.begin()));
  CHECK(std::equal(slopes.begin(), slopes.end(), gradient.begin()));
  CHECK(model.weight.value()(0, 0) != numbers[0]);
}

TEST_CASE("optimizer: a gradient scale is equivalent to scaled gradients", "[train]") {
  Affine<double> scaled({4, 5}, {3}), unscaled({4, 5}, {3});
  AdamW scaled_optimizer(scaled), unscaled_optimizer(unscaled);
  for (std::uint64_t step = 0; step < 3; ++step) {
    fill_with_noise(scaled, step);
    fill_with_noise(unscaled, step);
    for (Parameter<double>* parameter : {&scaled.weight, &scaled.bias}) {
      Tensor<double> quarter = parameter->grad().clone();
      for (double& value : quarter) value *= 0.25;
      parameter->set_grad(quarter);
    }
    scaled_optimizer.step();
    unscaled_optimizer.step(0.25);
  }
  CHECK(std::equal(scaled.weight.value().begin(), scaled.weight.value().end(),
                   unscaled.weight.value().begin()));
}

TEST_CASE("optimizer: a parameter that is given twice is updated once, on two threads too",
          "[train]") {
  constexpr Index size = 100'000;
  Affine<float> model({size}, {1});
  const NamedParameters<float> twice = {
      {"embedding", &model.weight}, {"bias", &model.bias}, {"output", &model.weight}};
  const int before = thread_count();
  for (const int threads : {1, 2}) {
    set_thread_count(threads);
    model.weight.set_value(Tensor<float>({size}));
    SGD optimizer(twice, {.lr = 1.0, .momentum = 0.5});
    REQUIRE(optimizer.parameters().size() == 2);
    CHECK(optimizer.parameters()[0].name == "embedding");
    model.weight.set_grad(Tensor<float>::full({size}, 3.0f));
    CHECK(optimizer.grad_norm() == Approx(3.0 * std::sqrt(static_cast<double>(size))));
    optimizer.step();
    const auto values = std::as_const(model.weight).value().values();
    CHECK(std::all_of(values.begin(), values.end(), [](float value) { return value == -3.0f; }));
  }
  set_thread_count(before);
  CHECK_THROWS_AS(SGD<float>({{"nothing", nullptr}}), Error);
}

TEST_CASE(
    "optimizer: clipping and stepping throws for gradients that are not finite, and changes "
    "nothing",
    "[train]") {
  for (const double bad : {not_a_number, infinite, -infinite})
    for (const double max_norm : {1.0, infinite}) {
      Affine<double> model({2}, {1});
      model.weight.set_grad(Tensor<double>({2}, {1.0, bad}));
      Adam optimizer(model, {.lr = 1.0});
      CHECK_THROWS_AS(optimizer.step(clip_factor(optimizer.grad_norm(), max_norm)), NonFiniteError);
      CHECK_THROWS_AS(optimizer.step(bad), NonFiniteError);
      CHECK(optimizer.steps() == 0);
      CHECK(model.weight.has_grad());
      for (const double value : model.weight.value()) CHECK(value == 0.0);
    }
}

TEST_CASE("optimizer: numbers beyond the range of float throw", "[train]") {
  Affine<float> model({2}, {1});
  CHECK_THROWS_WITH(SGD(model, {.lr = 1e39}),
                    "learning rate: expected a number of at most 3.40282e+38, got 1e+39");
  CHECK_THROWS_AS(SGD(model, {.weight_decay = 1e39}), ValueError);
  CHECK_THROWS_AS(SGD(model, {.weight_decay = infinite}), ValueError);
  CHECK_THROWS_AS(AdamW(model, {.eps = 1e39}), ValueError);
  CHECK_THROWS_AS(RMSprop(model, {.eps = infinite}), ValueError);
  SGD optimizer(model);
  CHECK_THROWS_AS(optimizer.set_learning_rate(1e39), ValueError);
  CHECK_THROWS_AS(optimizer.step(1e39), ValueError);
  Affine<double> in_double({2}, {1});
  CHECK(SGD(in_double, {.lr = 1e39}).learning_rate() == 1e39);
}

TEMPLATE_TEST_CASE("optimizer: an element without a gradient stays in place, whatever eps is",
                   "[train]", float, double) {
  // 1e-50 is 0 in float. 1e-30, squared, is 0 in float too.
  for (const double eps : {0.0, 1e-50})
    for (const double small : {0.0, 1e-30}) {
      const auto check = [&](auto make_optimizer) {
        Affine<TestType> model({3}, {1});
        model.weight.set_value(Tensor<TestType>::full({3}, TestType{2}));
        auto optimizer = make_optimizer(model);
        for (int step = 0; step < 3; ++step) {
          model.weight.set_grad(Tensor<TestType>({3}, {0, static_cast<TestType>(small), 1}));
          optimizer.step();
        }
        const Tensor<TestType> values = model.weight.value();
        CHECK(values(0) == TestType{2});
        CHECK(std::isfinite(values(1)));
        CHECK(values(2) < TestType{2});
      };
      check([&](auto& model) { return Adam(model, {.eps = eps}); });
      check([&](auto& model) { return AdamW(model, {.eps = eps, .weight_decay = 0.0}); });
      check([&](auto& model) { return RMSprop(model, {.eps = eps}); });
      check([&](auto& model) { return RMSprop(model, {.eps = eps, .momentum = 0.5}); });
    }
}

TEST_CASE("optimizer: same bits on 1, 2, 3 and 8 threads", "[train]") {
  check_same_bits([] {
    Affine<float> model({211, 307}, {19});
    AdamW optimizer(model, {.lr = 0.01});
    for (std::uint64_t step = 0; step < 5; ++step) {
      fill_with_noise(model, step);
      optimizer.step(clip_factor(optimizer.grad_norm(), 0.5));
    }
    return std::vector{model.weight.value(), model.bias.value()};
  });
}

TEST_CASE("optimizer: options outside their ranges throw", "[train]") {
  Affine<float> model({2, 3}, {3});
  CHECK_THROWS_WITH(SGD(model, {.lr = -1.0}),
                    "learning rate: expected a finite number ≥ 0, got -1");
  CHECK_THROWS_AS(SGD(model, {.lr = not_a_number}), ValueError);
  CHECK_THROWS_AS(SGD(model, {.momentum = 1.0}), ValueError);
  CHECK_THROWS_AS(SGD(model, {.weight_decay = -0.1}), ValueError);
  CHECK_THROWS_AS(SGD(model, {.nesterov = true}), ValueError);
  CHECK_THROWS_WITH(Adam(model, {.beta1 = 1.0}), "Adam: beta1: expected 0 ≤ beta1 < 1, got 1");
  CHECK_THROWS_AS(Adam(model, {.beta2 = -0.5}), ValueError);
  CHECK_THROWS_WITH(AdamW(model, {.eps = -1e-8}),
                    "AdamW: eps: expected a finite number ≥ 0, got -1e-08");
  CHECK_THROWS_AS(AdamW(model, {.lr = infinite}), ValueError);
  CHECK_THROWS_WITH(AdamW(model, {.decays = {}}), "AdamW: decays: expected a function, got none");
  CHECK_THROWS_AS(AdamW(model, {.weight_decay = not_a_number}), ValueError);
  CHECK_THROWS_WITH(AdamW(model, {.decays = {}}), "AdamW: decays: expected a function, got none");
  AdamW optimizer(model);
  CHECK_THROWS_AS(optimizer.set_learning_rate(not_a_number), ValueError);
  CHECK_THROWS_AS(optimizer.step(infinite), NonFiniteError);
  CHECK(optimizer.steps() == 0);
}

TEST_CASE("optimizer: a loaded rate is relative to the initial one", "[train]") {
  const TemporaryFolder folder;
  Affine<float> model({2, 3}, {3});
  SGD saved(model, {.lr = 1.0});
  saved.set_learning_rate(0.5);  // before the first step, the option
  CHECK(saved.initial_learning_rate() == 0.5);
  saved.step();
  saved.set_learning_rate(0.125);
  CHECK(saved.initial_learning_rate() == 0.5);
  CHECK(contains(saved.description(), "SGD, lr 0.5, "));
  save_checkpoint(folder / "model.h5", model, {{"optimizer", saved}});
  for (const auto& [lr, expected] :
       {std::pair(0.5, 0.125), std::pair(1.0, 0.25), std::pair(0.0, 0.0)}) {
    SGD loaded(model, {.lr = lr});
    load_checkpoint(folder / "model.h5", model, {{"optimizer", loaded}});
    CHECK(loaded.learning_rate() == expected);
    CHECK(loaded.initial_learning_rate() == lr);
    loaded.step();
    CHECK(loaded.learning_rate() == expected);
  }
  SGD none(model, {.lr = 0.0});
  save_checkpoint(folder / "none.h5", model, {{"optimizer", none}});
  SGD some(model, {.lr = 0.25});
  load_checkpoint(folder / "none.h5", model, {{"optimizer", some}});
  CHECK(some.learning_rate() == 0.25);
}

TEST_CASE("optimizer: registers its whole state, and throws for an invalid one", "[train]") {
  Affine<float> model({2, 3}, {3});
  AdamW optimizer(model);
  const RecordedState<float> state(optimizer);
  CHECK(state.tensors.size() == 4);
  CHECK(state.tensors.at("first_moment.weight")->shape() == Shape{2, 3});
  optimizer.check_state();

  *state.integers.at("step") = -1;
  CHECK_THROWS_WITH(optimizer.check_state(), "AdamW: step: expected a number ≥ 0, got -1");
  *state.integers.at("step") = 0;
  (*state.tensors.at("second_moment.bias"))(1) = -0.5f;
  CHECK_THROWS_WITH(optimizer.check_state(),
                    "AdamW: second_moment of bias: expected values ≥ 0, got -0.5 at [1]");
  (*state.tensors.at("second_moment.bias"))(1) = 0.0f;
  *state.numbers.at("learning_rate") = not_a_number;
  CHECK_THROWS_AS(optimizer.check_state(), ValueError);
  *state.numbers.at("learning_rate") = 0.1;
  *state.numbers.at("initial_learning_rate") = -0.1;
  CHECK_THROWS_WITH(optimizer.check_state(),
                    "initial learning rate: expected a finite number ≥ 0, got -0.1");
  *state.numbers.at("initial_learning_rate") = 0.1;
  *state.texts.at("type") = "Adam";
  CHECK_THROWS_WITH(optimizer.check_state(),
                    "optimizer: expected the state of AdamW, got the state of Adam");
}

TEST_CASE("optimizer: each parameter has its own count of steps", "[train]") {
  // Without earlier gradients, Adam's first step is lr whatever the gradient is.
  for (const int first : {1, 10, 100, 1000}) {
    INFO("the first gradient comes at step " << first);
    Affine<double> model({2}, {1});
    AdamW decoupled(model,
                    {.lr = 0.01, .weight_decay = 0.5, .decays = [](auto&, auto&) { return true; }});
    Affine<double> other({2}, {1});
    Adam optimizer(other, {.lr = 0.01});
    for (int step = 1; step <= first; ++step) {
      for (Affine<double>* each : {&model, &other}) {
        each->weight.set_grad(Tensor<double>::full({2}, std::cos(step)));
        if (step == first) each->bias.set_grad(Tensor<double>::full({1}, 3.0));
      }
      decoupled.step();
      optimizer.step();
    }
    CHECK(model.bias.value()(0) == Approx(-0.01));
    CHECK(other.bias.value()(0) == Approx(-0.01));
    CHECK(optimizer.steps() == first);
  }
}

TEST_CASE("optimizer: counts of steps are part of the state", "[train]") {
  const auto run = [](Affine<float>& model, AdamW<float>& optimizer, int from, int to) {
    for (int step = from; step < to; ++step) {
      model.weight.set_grad(Tensor<float>::full({2}, std::cos(static_cast<float>(step))));
      if (step >= 5)
        model.bias.set_grad(Tensor<float>::full({1}, std::sin(static_cast<float>(step))));
      optimizer.step();
    }
  };
  Affine<float> whole({2}, {1}), half({2}, {1});
  AdamW whole_optimizer(whole), half_optimizer(half);
  run(whole, whole_optimizer, 0, 20);
  run(half, half_optimizer, 0, 8);
  Affine<float> resumed = half;
  AdamW optimizer(resumed);
  const RecordedState<float> from(half_optimizer), to(optimizer);
  for (const auto& [name, tensor] : from.tensors) *to.tensors.at(name) = *tensor;
  for (const auto& [name, list] : from.lists) *to.lists.at(name) = *list;
  for (const auto& [name, integer] : from.integers) *to.integers.at(name) = *integer;
  CHECK(to.lists.at("missed_steps")->values()[1] == 5);
  optimizer.check_state();
  run(resumed, optimizer, 8, 20);
  CHECK(resumed.weight.value()(0) == whole.weight.value()(0));
  CHECK(resumed.bias.value()(0) == whole.bias.value()(0));

  for (const std::int32_t missed : {-1, 21}) {
    (*to.lists.at("missed_steps"))(1) = missed;
    CHECK_THROWS_WITH(
        optimizer.check_state(),
        str_cat("AdamW: missed_steps of bias: expected a value from 0 to 20, got ", missed));
  }
}

TEST_CASE("optimizer: follows a model that is moved", "[train]") {
  auto model = std::make_unique<Affine<float>>(Shape{2}, Shape{1});
  SGD optimizer(*model, {.lr = 1.0});
  Affine<float> moved = std::move(*model);
  model.reset();
  moved.weight.set_grad(Tensor<float>::full({2}, 3.0f));
  optimizer.step();
  CHECK(moved.weight.value()(1) == -3.0f);
  CHECK_FALSE(moved.weight.has_grad());
}

TEST_CASE("optimizer: throws when a parameter was removed, naming it", "[train]") {
  auto model = std::make_unique<Affine<float>>(Shape{2}, Shape{1});
  AdamW optimizer(*model);
  const std::string description = optimizer.description();
  model.reset();
  const std::string text =
      "AdamW: parameter weight: expected an existing parameter, got a removed or replaced "
      "parameter (see merge_lora and remove_lora)";
  CHECK_THROWS_WITH(optimizer.step(), text);
  CHECK_THROWS_WITH(optimizer.zero_grad(), text);
  CHECK_THROWS_WITH(RecordedState<float>(optimizer), text);
  CHECK_THROWS_AS(optimizer.grad_norm(), Error);
  CHECK_THROWS_WITH(AdamW<float>(optimizer.parameters()), text.substr(7));
  CHECK(optimizer.steps() == 0);
  CHECK(optimizer.description() == description);
}

TEST_CASE("optimizer: throws after merge_lora and remove_lora, and after layers were replaced",
          "[train]") {
  const Tokens tokens({2, 3}, {1, 5, 2, 7, 3, 10});
  const auto check = [&](const char* removed, const auto& change) {
    INFO(removed);
    Random random(1);
    Gpt<float> model({.vocabulary_size = 11,
                      .max_len = 8,
                      .num_hiddens = 8,
                      .num_heads = 2,
                      .num_blocks = 2,
                      .tied = false},
                     random);
    add_lora(model, {.rank = 2}, below("blocks.0.attention.W_q"), random);
    unfreeze(model);
    AdamW optimizer(model);
    ExponentialMovingAverage average(model);
    ParallelPass<float> pass(named_parameters(model), 1, {.training = true});
    Tape<float> tape({.training = true});
    const Var<float> loss = mean(model(tape, tokens));
    change(model);
    const auto check_throws = [&](const auto& call) {
      CHECK_THAT(message_of<Error>(call), Catch::Contains(removed));
    };
    check_throws([&] { optimizer.step(); });
    check_throws([&] { (void)optimizer.grad_norm(); });
    check_throws([&] { optimizer.zero_grad(); });
    check_throws([&] { average.update(); });
    check_throws([&] {
      pass.add_gradients(0, 1, [&](Tape<float>& own, Index) { return mean(model(own, tokens)); });
    });
    CHECK_THROWS_AS(tape.backward(loss), Error);
    for (const auto& [name, parameter] : named_parameters(model))
      CHECK_FALSE(parameter->has_grad());
    // A new optimizer works.
    Tape<float> again({.training = true});
    again.backward(mean(model(again, tokens)));
    CHECK(clip_grad_norm(model, 1.0) > 0.0);
    AdamW(model).step();
  };
  check("blocks.0.attention.W_q.lora_A.weight", [](Gpt<float>& model) { merge_lora(model); });
  check("blocks.0.attention.W_q.lora_A.weight", [](Gpt<float>& model) { remove_lora(model); });
  check("blocks.0.attention.W_q.lora_A.weight", [](Gpt<float>& model) {
    Random random(2);
    model.blocks.blocks[0].attention.W_q =
        Linear<float>({.in_features = 8, .out_features = 8}, random);
  });
  check("blocks.1.", [](Gpt<float>& model) { model.blocks.blocks.pop_back(); });
  check("blocks.1.", [](Gpt<float>& model) {
    Random random(2);
    model.blocks.blocks[1].ffn = SwiGLU<float>({.num_hiddens = 8, .ffn_num_hiddens = 8}, random);
  });
  check("output.weight", [](Gpt<float>& model) { model.output.reset(); });
}
