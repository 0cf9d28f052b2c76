#include <cmath>
#include <limits>

#include <weft/autograd/ops/dropout.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"

namespace weft {

TEST_CASE("dropout: off unless the tape trains", "[autograd]") {
  Tape<float> tape;
  const Tensor<float> x = Tensor<float>::full({100}, 3.0F);
  const auto y = dropout(tape.constant(x), 0.5).value();
  CHECK(std::equal(x.begin(), x.end(), y.begin()));
}

TEST_CASE("dropout: zeros about p of the elements and scales the others by 1 / (1 - p)",
          "[autograd]") {
  Tape<double> tape({.training = true, .seed = 1});
  const Index n = 200000;
  const auto y = dropout(tape.constant(Tensor<double>::full({n}, 1.0)), 0.3).value();
  Index zeros = 0;
  for (const double value : y) {
    if (value == 0.0)
      ++zeros;
    else
      CHECK(value == 1.0 / 0.7);
  }
  // Five standard deviations of a binomial: 5 √(n p (1 - p)) ≈ 1025.
  CHECK(std::abs(static_cast<double>(zeros) - 0.3 * static_cast<double>(n)) < 1025.0);
}

TEST_CASE("dropout: masks depend only on seed, step and position in the pass", "[autograd]") {
  const auto mask = [](std::uint64_t seed, std::uint32_t step, int position) {
    Tape<float> tape({.training = true, .seed = seed});
    tape.set_step(step);
    auto y = dropout(tape.constant(Tensor<float>::full({200}, 1.0F)), 0.5);
    for (int i = 0; i < position; ++i)
      y = dropout(tape.constant(Tensor<float>::full({200}, 1.0F)), 0.5);
    return std::vector<float>(y.value().begin(), y.value().end());
  };
  CHECK(mask(1, 0, 0) == mask(1, 0, 0));
  CHECK(mask(1, 0, 0) != mask(2, 0, 0));
  CHECK(mask(1, 0, 0) != mask(1, 1, 0));
  CHECK(mask(1, 0, 0) != mask(1, 0, 1));
}

TEST_CASE("dropout: the gradient has the same mask as the value", "[autograd]") {
  Parameter<float> x(Tensor<float>::full({5000}, 2.0F));
  Tape<float> tape({.training = true, .seed = 4});
  const auto y = dropout(tape.parameter(x), 0.25);
  tape.backward(y, Tensor<float>::full({5000}, 2.0F));
  CHECK(std::equal(y.value().begin(), y.value().end(), x.grad().begin()));
}

TEST_CASE("dropout: p = 1 gives zeros and zero gradient", "[autograd]") {
  Parameter<float> x(Tensor<float>::full({50}, 2.0F));
  Tape<float> tape({.training = true});
  const auto y = dropout(tape.parameter(x), 1.0);
  tape.backward(y, Tensor<float>::full({50}, 1.0F));
  for (const float value : y.value()) CHECK(value == 0.0F);
  for (const float g : x.grad()) CHECK(g == 0.0F);
}

TEST_CASE("dropout: p outside 0 … 1 is an error, also when dropout is off", "[autograd]") {
  Tape<float> tape;
  const auto x = tape.constant(Tensor<float>({2}));
  CHECK_THROWS_WITH(dropout(x, -0.1), "dropout: p: expected a probability of 0 to 1, got -0.1");
  CHECK_THROWS_AS(dropout(x, 1.1), ValueError);
  CHECK_THROWS_AS(dropout(x, std::numeric_limits<double>::quiet_NaN()), ValueError);
}

TEST_CASE("dropout: the same bits on 1, 2, 3 and 8 threads", "[autograd]") {
  check_same_bits([&] {
    Tape<float> tape({.training = true, .seed = 4});
    return std::vector<Tensor<float>>{
        dropout(tape.constant(Tensor<float>::full({100001}, 1.0F)), 0.5).value()};
  });
}

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"dropout",
       "with p = 0.5",
       {{5, 7}},
       {{200, 250}},
       [](const auto& x) { return dropout(x[0], 0.5); }},
      {"dropout",
       "with p = 0",
       {{2, 3}},
       {{200, 250}},
       [](const auto& x) { return dropout(x[0], 0.0); }},
      {"dropout",
       "with p = 1",
       {{2, 3}},
       {{200, 250}},
       [](const auto& x) { return dropout(x[0], 1.0); }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
