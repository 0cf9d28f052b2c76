#include <cmath>

#include <weft/autograd/error.hpp>
#include <weft/autograd/random.hpp>
#include <weft/train/moving_average.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/affine.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

TEST_CASE("moving average: by hand", "[train]") {
  Affine<double> model({1, 1}, {1});
  MovingAverage average(model, 0.75);
  CHECK(message_of<Error>([&] { average.swap(); }) ==
        "moving average: expected an update before `swap`, got none");
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
    MovingAverage average(model, 0.9);
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
  MovingAverage average(model), loaded(other);
  average.update();
  save_checkpoint(folder / "model.h5", model, {{"average", average}});
  load_checkpoint(folder / "model.h5", other, {{"average", loaded}});
  CHECK(loaded.updates() == 1);
  loaded.swap();
  CHECK(other.bias.value()(1) == 3.0f);
}

TEST_CASE("moving average: a decay outside 0 … 1 is refused", "[train]") {
  Affine<float> model({2, 2}, {2});
  for (const double decay : {-0.1, 1.0, std::nan("")})
    CHECK_THROWS_AS(MovingAverage(model, decay), ValueError);
}
