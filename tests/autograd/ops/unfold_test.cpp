#include <limits>

#include <weft/autograd/ops/unfold.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

namespace weft {

TEST_CASE("unfold: concatenates the positions of each window", "[autograd]") {
  Tape<float> tape;
  // Two channels: position t is (t + 1, -t - 1).
  const Var x = tape.constant(Tensor<float>({1, 4, 2}, {1, -1, 2, -2, 3, -3, 4, -4}));
  CHECK(same(unfold(x, {.size = 2}).value(),
             Tensor<float>({1, 3, 4}, {1, -1, 2, -2, 2, -2, 3, -3, 3, -3, 4, -4})));
  CHECK(same(unfold(x, {.size = 2, .dilation = 3}).value(),
             Tensor<float>({1, 1, 4}, {1, -1, 4, -4})));
  CHECK(same(unfold(x, {.size = 2, .stride = 2, .before = 1}).value(),
             Tensor<float>({1, 2, 4}, {0, 0, 1, -1, 2, -2, 3, -3})));
  CHECK(
      same(unfold(x, {.size = 1, .stride = 3}).value(), Tensor<float>({1, 2, 2}, {1, -1, 4, -4})));
  CHECK(same(unfold(x, {.size = 3, .stride = 9, .before = 1, .after = 8}).value(),
             Tensor<float>({1, 2, 6}, {0, 0, 1, -1, 2, -2, 0, 0, 0, 0, 0, 0})));
}

TEST_CASE("unfold: positions past the end of a sequence count as zeros", "[autograd]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  Parameter<float> x(Tensor<float>({2, 3, 1}, {1, 2, nan, nan, nan, nan}));
  Tape<float> tape;
  const Var y = unfold(tape.parameter(x), {.size = 2, .after = 1}, {2, 0});
  CHECK(same(y.value(), Tensor<float>({2, 3, 2}, {1, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0})));
  tape.backward(y, Tensor<float>::full(y.shape(), 1.0F));
  CHECK(same(x.grad(), Tensor<float>({2, 3, 1}, {1, 2, 0, 0, 0, 0})));
}

TEST_CASE("unfold: invalid inputs and options throw", "[autograd]") {
  Tape<float> tape;
  const Var x = tape.constant(Tensor<float>({2, 4, 3}));
  CHECK(message_of<ShapeError>([&] {
          unfold(tape.constant(Tensor<float>({4, 3})), {});
        }) == "unfold: expected shape [batch, time, channels], got [4, 3]");
  CHECK(message_of<ShapeError>([&] { unfold(x, {.size = 4, .dilation = 2, .after = 2}); }) ==
        "unfold: expected at least 7 positions with padding, got 6 for an input of shape [2, 4, "
        "3]");
  CHECK(message_of<ValueError>([&] { unfold(x, {.size = 0}); }) ==
        "unfold: expected size, dilation and stride ≥ 1, got 0, 1 and 1");
  CHECK_THROWS_AS(unfold(x, {.dilation = 0}), ValueError);
  CHECK_THROWS_AS(unfold(x, {.stride = -1}), ValueError);
  CHECK(message_of<ValueError>([&] { unfold(x, {.before = -1}); }) ==
        "unfold: expected before and after ≥ 0, got -1 and 0");
  CHECK(message_of<ValueError>([&] {
          unfold(x, {}, {4, 5});
        }) == "unfold: valid_lens: expected lengths from 0 to 4, got 5");
  CHECK_THROWS_AS(unfold(x, {}, {4, 4, 4}), ShapeError);
}

TEST_CASE("unfold: the same bits on 1, 2, 3 and 8 threads", "[autograd]") {
  Random random(8);
  Parameter<float> x(random.normal_tensor<float>({5, 300, 32}));
  const auto upstream = random.normal_tensor<float>({5, 150, 96});
  check_same_bits([&] {
    Tape<float> tape;
    const Var y = unfold(tape.parameter(x), {.size = 3, .stride = 2, .before = 1});
    x.zero_grad();
    tape.backward(y, upstream);
    return std::vector<Tensor<float>>{y.value(), x.grad().clone()};
  });
}

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"unfold",
       "with overlapping windows",
       {{2, 5, 3}},
       {{10, 200, 9}},
       [](const auto& x) { return unfold(x[0], {.size = 3}); }},
      {"unfold",
       "with padding, dilation, stride and unused positions",
       {{2, 10, 2}},
       {{20, 402, 10}},
       [](const auto& x) {
         return unfold(x[0], {.size = 2, .dilation = 2, .stride = 4, .before = 1, .after = 2});
       }},
      {"unfold",
       "with lengths, one of them 0",
       {{3, 4, 2}},
       {{20, 200, 6}},
       [](const auto& x) {
         const Shape& sequences = x[0].shape();
         return unfold(x[0], {.size = 3, .before = 2},
                       random_lengths({sequences[0]}, sequences[1]));
       }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
