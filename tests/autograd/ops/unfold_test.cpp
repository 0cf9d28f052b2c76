#include <limits>

#include <weft/autograd/ops/unfold.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

namespace weft {

TEST_CASE("windows: each has its positions side by side", "[autograd]") {
  Tape<float> tape;
  // Two channels: position t holds (t, -t).
  const Var x = tape.constant(Tensor<float>({1, 4, 2}, {1, -1, 2, -2, 3, -3, 4, -4}));
  CHECK(same(windows(x, {.size = 2}).value(),
             Tensor<float>({1, 3, 4}, {1, -1, 2, -2, 2, -2, 3, -3, 3, -3, 4, -4})));
  CHECK(same(windows(x, {.size = 2, .dilation = 3}).value(),
             Tensor<float>({1, 1, 4}, {1, -1, 4, -4})));
  CHECK(same(windows(x, {.size = 2, .stride = 2, .before = 1}).value(),
             Tensor<float>({1, 2, 4}, {0, 0, 1, -1, 2, -2, 3, -3})));
  CHECK(
      same(windows(x, {.size = 1, .stride = 3}).value(), Tensor<float>({1, 2, 2}, {1, -1, 4, -4})));
  CHECK(same(windows(x, {.size = 3, .stride = 9, .before = 1, .after = 8}).value(),
             Tensor<float>({1, 2, 6}, {0, 0, 1, -1, 2, -2, 0, 0, 0, 0, 0, 0})));
}

TEST_CASE("windows: what lies past a sequence's end counts as zeros", "[autograd]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const Parameter<float> x(Tensor<float>({2, 3, 1}, {1, 2, nan, nan, nan, nan}));
  Tape<float> tape;
  const Var y = windows(tape.parameter(x), {.size = 2, .after = 1}, {2, 0});
  CHECK(same(y.value(), Tensor<float>({2, 3, 2}, {1, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0})));
  tape.backward(y, Tensor<float>::full(y.shape(), 1.0F));
  CHECK(same(x.grad(), Tensor<float>({2, 3, 1}, {1, 2, 0, 0, 0, 0})));
}

TEST_CASE("windows: what does not fit is refused", "[autograd]") {
  Tape<float> tape;
  const Var x = tape.constant(Tensor<float>({2, 4, 3}));
  CHECK(message_of<ShapeError>([&] {
          windows(tape.constant(Tensor<float>({4, 3})), {});
        }) == "windows: expected shape [batch, time, channels], got [4, 3]");
  CHECK(message_of<ShapeError>([&] { windows(x, {.size = 4, .dilation = 2, .after = 2}); }) ==
        "windows: expected at least 7 positions with padding, got 6 for an input of shape [2, 4, "
        "3]");
  CHECK(message_of<ValueError>([&] { windows(x, {.size = 0}); }) ==
        "windows: expected size, dilation and stride ≥ 1, got 0, 1 and 1");
  CHECK_THROWS_AS(windows(x, {.dilation = 0}), ValueError);
  CHECK_THROWS_AS(windows(x, {.stride = -1}), ValueError);
  CHECK(message_of<ValueError>([&] { windows(x, {.before = -1}); }) ==
        "windows: expected numbers of zeros ≥ 0, got -1 before and 0 after");
  CHECK(message_of<ValueError>([&] {
          windows(x, {}, {4, 5});
        }) == "windows: valid_lens: expected lengths of 0 to 4, got 5");
  CHECK_THROWS_AS(windows(x, {}, {4, 4, 4}), ShapeError);
}

TEST_CASE("windows: the same bits on 1, 2, 3 and 8 threads", "[autograd]") {
  Random random(8);
  const Parameter<float> x(random.normal_tensor<float>({5, 300, 32}));
  const auto upstream = random.normal_tensor<float>({5, 150, 96});
  check_same_bits([&] {
    Tape<float> tape;
    const Var y = windows(tape.parameter(x), {.size = 3, .stride = 2, .before = 1});
    x.zero_grad();
    tape.backward(y, upstream);
    return std::vector<Tensor<float>>{y.value(), x.grad().clone()};
  });
}

}  // namespace weft
