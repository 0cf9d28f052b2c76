#include <cmath>
#include <memory>

#include <weft/autograd/error.hpp>
#include <weft/autograd/random.hpp>
#include <weft/train/moving_average.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include <weft/train/weights/convert_weights.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/affine.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

TEST_CASE("moving average: by hand", "[train]") {
  Affine<double> model({1, 1}, {1});
  ExponentialMovingAverage average(model, 0.75);
  CHECK(message_of<Error>([&] { average.swap(); }) ==
        "moving average: expected at least one update before `swap`, got none");
  for (const double value : {8.0, 4.0, 0.0}) {
    model.weight(0, 0) = value;
    average.update();
  }
  // 8; 0.75 · 8 + 0.25 · 4 = 7; 0.75 · 7 = 5.25.
  average.swap();
  CHECK(model.weight.value()(0, 0) == 5.25);
  average.swap();
  CHECK(model.weight.value()(0, 0) == 0.0);
  CHECK(average.updates() == 3);
}

TEST_CASE("moving average: of many elements, the same bits on any number of threads", "[train]") {
  check_same_bits([] {
    Affine<float> model({300, 400}, {70'000});
    ExponentialMovingAverage average(model, 0.9);
    Random random(1);
    for (int i = 0; i < 3; ++i) {
      model.weight.set_value(random.normal_tensor<float>({300, 400}));
      model.bias.set_value(random.normal_tensor<float>({70'000}));
      average.update();
    }
    const float last = model.bias.value()(69'999);
    average.swap();
    CHECK(model.bias.value()(69'999) != last);
    return std::vector{model.weight.value(), model.bias.value()};
  });
}

TEST_CASE("moving average: is saved and loaded with a checkpoint", "[train]") {
  const TemporaryFolder folder;
  Affine<float> model({2, 2}, {2}), other({2, 2}, {2});
  model.bias(1) = 3.0f;
  ExponentialMovingAverage average(model), loaded(other);
  average.update();
  save_checkpoint(folder / "model.h5", model, {{"average", average}});
  load_checkpoint(folder / "model.h5", other, {{"average", loaded}});
  CHECK(loaded.updates() == 1);
  loaded.swap();
  CHECK(other.bias.value()(1) == 3.0f);
}

TEST_CASE("moving average: is what reading the weights of a checkpoint gives", "[train]") {
  const TemporaryFolder folder;
  const auto path = folder / "model.h5", converted = folder / "converted.h5";
  Affine<float> model({1, 2}, {1}), other({1, 2}, {1});
  ExponentialMovingAverage average(model, 0.5);
  const auto save = [&] { save_checkpoint(path, model, {{"average", average}}); };
  const auto bias_in = [&other](const auto& load) {
    load();
    return other.bias.value()(0);
  };
  model.bias(0) = 2.0f;
  save();  // before the first update
  CHECK(bias_in([&] { load_checkpoint(path, other); }) == 2.0f);
  CHECK(bias_in([&] { CHECK_FALSE(load_weights(path, other).averaged); }) == 2.0f);
  CHECK_FALSE(convert_weights(path, converted).averaged);
  average.update();
  model.bias(0) = 4.0f;
  average.update();
  save();

  CHECK(bias_in([&] { load_checkpoint(path, other); }) == 3.0f);
  ExponentialMovingAverage loaded(other, 0.5);
  CHECK(bias_in([&] { load_checkpoint(path, other, {{"average", loaded}}); }) == 4.0f);
  loaded.swap();
  CHECK(other.bias.value()(0) == 3.0f);
  CHECK(bias_in([&] { CHECK_FALSE(load_weights(path, other, {.group = "model"}).averaged); }) ==
        4.0f);
  CHECK(bias_in([&] {
          const LoadWeightsReport report = load_weights(path, other);
          CHECK(report.averaged);
          CHECK(report.unused == std::vector<std::string>{"model.bias", "model.weight"});
          CHECK(str_cat(report).starts_with(
              "loaded 2 parameters, averaged from below 'model.', layout state_dict\n"));
        }) == 3.0f);

  const ConvertWeightsReport report = convert_weights(path, converted, {.layout = Layout::pytorch});
  CHECK(report.averaged);
  CHECK(report.unused == std::vector<std::string>{"average/updates", "model/bias", "model/weight"});
  CHECK(bias_in([&] { CHECK_FALSE(load_weights(converted, other).averaged); }) == 3.0f);
  CHECK_FALSE(convert_weights(path, converted, {}, false).averaged);
  CHECK(bias_in([&] { (void)load_weights(converted, other); }) == 4.0f);
}

TEST_CASE("moving average: a checkpoint of another model changes nothing", "[train]") {
  const TemporaryFolder folder;
  Affine<float> model({1, 2}, {1});
  Affine<float> larger({1, 2}, {2});
  ExponentialMovingAverage average(larger);
  average.update();
  save_checkpoint(folder / "model.h5", model, {{"average", average}});
  model.bias(0) = 7.0f;
  CHECK_THROWS_AS(load_checkpoint(folder / "model.h5", model), FileError);
  CHECK_THROWS_AS(load_weights(folder / "model.h5", model), FileError);
  CHECK(model.bias.value()(0) == 7.0f);
}

TEST_CASE("moving average: a decay outside 0 … 1 is refused", "[train]") {
  Affine<float> model({2, 2}, {2});
  for (const double decay : {-0.1, 1.0, std::nan("")})
    CHECK_THROWS_AS(ExponentialMovingAverage(model, decay), ValueError);
}

TEST_CASE("moving average: of a parameter that does not change is the parameter, bit by bit",
          "[train]") {
  Affine<float> model({3}, {1});
  model.weight.set_value(Tensor<float>({3}, {0.1f, -7.3f, 1e-5f}));
  ExponentialMovingAverage average(model, 0.999);
  const Tensor<float> before = model.weight.value().clone();
  for (int i = 0; i < 5000; ++i) average.update();
  average.swap();
  for (Index i = 0; i < 3; ++i) CHECK(model.weight.value()(i) == before(i));
}

TEST_CASE("moving average: follows a model that is moved, and throws when it is gone", "[train]") {
  auto model = std::make_unique<Affine<float>>(Shape{1}, Shape{1});
  ExponentialMovingAverage average(*model, 0.5);
  auto moved = std::make_unique<Affine<float>>(std::move(*model));
  model.reset();
  moved->weight(0) = 3.0f;
  average.update();
  moved->weight(0) = 0.0f;
  average.swap();
  CHECK(moved->weight.value()(0) == 3.0f);
  moved.reset();
  const std::string text =
      "moving average: parameter weight: expected an existing parameter, got a removed or replaced "
      "parameter (see merge_lora and remove_lora)";
  CHECK(message_of<Error>([&] { average.update(); }) == text);
  CHECK(message_of<Error>([&] { average.swap(); }) == text);
}
