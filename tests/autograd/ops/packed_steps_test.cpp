#include <limits>
#include <vector>

#include <weft/autograd/ops/packed_steps.hpp>
#include <weft/autograd/ops/recurrence.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

namespace weft {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

Tensor<bool> mask_of(const Shape& shape, const std::vector<int>& selected) {
  Tensor<bool> mask(shape);
  for (Index i = 0; i < mask.size(); ++i) mask.data()[i] = selected[static_cast<std::size_t>(i)];
  return mask;
}

// A mask that selects every step of every third sequence, and none of the last sequence.
Tensor<bool> irregular_mask(const Shape& shape) {
  Tensor<bool> mask = random_allowed(shape);
  const Index batch = shape[0], time = shape[1];
  for (Index b = 0; b < batch; ++b)
    if (b % 3 == 2 || b == batch - 1) std::fill_n(mask.data() + b * time, time, b != batch - 1);
  return mask;
}

}  // namespace

TEST_CASE("packed steps: the selected steps come first", "[autograd]") {
  const Tensor<bool> mask = mask_of({3, 4}, {0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0});
  CHECK(same(count_steps(mask).lengths(), Tensor<std::int32_t>({3}, {2, 1, 0})));
  Parameter<float> x(Tensor<float>({3, 4, 1}, {nan, 2, nan, 4, 5, nan, 7, 8, nan, 1, nan, 1}));
  Tape<float> tape;
  const Var y = pack_steps(tape.parameter(x), mask);
  CHECK(same(y.value(), Tensor<float>({3, 2, 1}, {2, 4, 5, 0, 0, 0})));
  tape.backward(y, Tensor<float>({3, 2, 1}, {1, 10, 100, nan, nan, nan}));
  CHECK(same(x.grad(), Tensor<float>({3, 4, 1}, {0, 1, 0, 10, 100, 0, 0, 0, 0, 0, 0, 0})));
}

TEST_CASE("packed steps: masked steps repeat the state before, or zeros", "[autograd]") {
  const Tensor<bool> mask = mask_of({3, 4}, {0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0});
  Parameter<float> states(Tensor<float>({3, 2, 1}, {2, 4, 5, nan, nan, nan}));
  Tape<float> tape;
  const Var y = unpack_steps(tape.parameter(states), mask);
  CHECK(same(y.value(), Tensor<float>({3, 4, 1}, {0, 2, 2, 4, 5, 5, 5, 5, 0, 0, 0, 0})));
  tape.backward(y, Tensor<float>({3, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  CHECK(same(states.grad(), Tensor<float>({3, 2, 1}, {5, 4, 26, 0, 0, 0})));
}

TEST_CASE("packed steps: a recurrence over a mask of the first steps is one with lengths",
          "[autograd]") {
  Random random(4);
  const ValidLens lengths{3, 0, 5};
  Tensor<bool> mask({3, 5});
  for (Index b = 0; b < 3; ++b) std::fill_n(mask.data() + b * 5, lengths.length(b, 0, 5), true);
  Tape<double> tape;
  const auto x = tape.constant(random.normal_tensor<double>({3, 5, 4}));
  const auto weight = tape.constant(random.normal_tensor<double>({4, 4}));
  const auto bias = tape.constant(random.normal_tensor<double>({4}));
  const auto h0 = tape.constant(Tensor<double>({3, 4}));
  const auto packed =
      unpack_steps(tanh_recurrence(pack_steps(x, mask), weight, bias, h0, count_steps(mask)), mask);
  const auto expected = tanh_recurrence(x, weight, bias, h0, lengths);
  for (Index b = 0; b < 3; ++b)
    for (Index t = 0; t < 5; ++t)
      for (Index c = 0; c < 4; ++c) {
        const Index length = lengths.length(b, 0, 5), last = std::min(t, length - 1);
        CHECK(packed.value()(b, t, c) == (length == 0 ? 0.0 : expected.value()(b, last, c)));
      }
}

TEST_CASE("packed steps: a recurrence over no steps keeps its initial state", "[autograd]") {
  const Tensor<bool> mask({2, 3});
  Tape<float> tape;
  const auto x = tape.constant(Tensor<float>::full({2, 3, 4}, nan));
  const auto initial = tape.constant(Tensor<float>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
  const auto states =
      tanh_recurrence(pack_steps(x, mask), tape.constant(Tensor<float>({4, 4})),
                      tape.constant(Tensor<float>({4})), initial, count_steps(mask));
  CHECK(states.shape() == Shape{2, 0, 4});
  CHECK(same(last_states(states, initial, count_steps(mask)).value(), initial.value()));
  CHECK(same(unpack_steps(states, mask).value(), Tensor<float>({2, 3, 4})));
}

TEST_CASE("packed steps: shapes that do not match throw", "[autograd]") {
  Tape<float> tape;
  const Var x = tape.constant(Tensor<float>({2, 4, 3}));
  CHECK(message_of<ShapeError>([&] { count_steps(Tensor<bool>({4})); }) ==
        "count_steps: mask: expected shape [batch, time], got [4]");
  CHECK(message_of<ShapeError>([&] {
          pack_steps(x, Tensor<bool>({2, 5}));
        }) ==
        "pack_steps: expected x [batch, time, size] and mask [batch, time], got [2, 4, 3] and "
        "[2, 5]");
  CHECK(message_of<ShapeError>([&] {
          unpack_steps(x, Tensor<bool>({3, 5}));
        }) ==
        "unpack_steps: expected states [batch, steps, size] and mask [batch, time], got [2, 4, 3] "
        "and [3, 5]");
  CHECK(message_of<ShapeError>([&] {
          unpack_steps(x, mask_of({2, 5}, {1, 1, 1, 1, 0, 1, 1, 1, 1, 1}));
        }) == "unpack_steps: states: expected at least 5 steps, got [2, 4, 3]");
  CHECK_THROWS_AS(pack_steps(tape.constant(Tensor<float>({2, 4})), Tensor<bool>({2, 4})),
                  ShapeError);
  CHECK_THROWS_AS(unpack_steps(x, Tensor<bool>({2, 4, 3})), ShapeError);
}

TEST_CASE("packed steps at size: every step finds its place", "[autograd]") {
  const Index batch = 40, time = 50, size = 20;
  const Tensor<bool> mask = irregular_mask({batch, time});
  const auto x = Random(5).normal_tensor<double>({batch, time, size});
  Tape<double> tape;
  const Tensor<double> packed = pack_steps(tape.constant(x), mask).value();
  const Tensor<double> unpacked = unpack_steps(tape.constant(packed), mask).value();
  REQUIRE(packed.shape() == Shape{batch, time, size});
  Tensor<double> expected_packed(packed.shape()), expected_unpacked(unpacked.shape());
  for (Index b = 0; b < batch; ++b) {
    Index count = 0;
    for (Index t = 0; t < time; ++t) {
      if (mask(b, t)) ++count;
      for (Index c = 0; c < size && count > 0; ++c) {
        if (mask(b, t)) expected_packed(b, count - 1, c) = x(b, t, c);
        expected_unpacked(b, t, c) = expected_packed(b, count - 1, c);
      }
    }
  }
  CHECK(same(packed, expected_packed));
  CHECK(same(unpacked, expected_unpacked));
}

TEST_CASE("packed steps: the same bits on 1, 2, 3 and 8 threads", "[autograd]") {
  const Tensor<bool> mask = irregular_mask({40, 50});
  Random random(6);
  Parameter<float> x(random.normal_tensor<float>({40, 50, 20}));
  const auto upstream = random.normal_tensor<float>({40, 50, 20});
  check_same_bits([&] {
    Tape<float> tape;
    const Var y = unpack_steps(pack_steps(tape.parameter(x), mask), mask);
    x.zero_grad();
    tape.backward(y, upstream);
    return std::vector<Tensor<float>>{y.value(), x.grad().clone()};
  });
}

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"pack_steps",
       "sequences of all, some and no steps",
       {{4, 5, 2}},
       {{40, 50, 20}},
       [](const auto& x) {
         return pack_steps(x[0], irregular_mask({x[0].shape()[0], x[0].shape()[1]}));
       }},
      {"unpack_steps",
       "sequences of all, some and no steps",
       {{4, 5, 2}},
       {{40, 50, 20}},
       [](const auto& x) {
         return unpack_steps(x[0], irregular_mask({x[0].shape()[0], x[0].shape()[1]}));
       }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
