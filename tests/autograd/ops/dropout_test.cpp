#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

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

TEMPLATE_TEST_CASE("dropout: keeps 1 - p of the elements also when p is near 1", "[autograd]",
                   float, double) {
  constexpr Index n = 1 << 18;
  const auto x = Tensor<TestType>::full({n}, TestType{1});
  for (const auto& [p, steps] : {std::pair{0.99, 1}, {0.9999, 384}, {0.999999, 384}}) {
    INFO("p " << p);
    double sum = 0.0;
    Tape<TestType> tape({.training = true, .seed = 1});
    for (int step = 0; step < steps; ++step) {
      tape.clear();
      tape.set_step(static_cast<std::uint32_t>(step));
      const auto y = dropout(tape.constant(x), p).value();
      sum = std::accumulate(y.begin(), y.end(), sum);
    }
    // Five standard deviations of a binomial, divided by its mean.
    const double count = static_cast<double>(n * steps);
    CHECK(std::abs(sum / count - 1.0) < 5.0 * std::sqrt(p / (count * (1.0 - p))));
  }
}

TEST_CASE("dropout: decides by 64-bit numbers when p > 0.9", "[autograd]") {
  for (const double p : {0.9, 0.95, std::nextafter(1.0, 0.0)}) {
    constexpr Index n = 5000;
    Tape<double> tape({.training = true, .seed = 1});
    const auto y = dropout(tape.constant(Tensor<double>::full({n}, 1.0)), p).value();
    std::vector<std::uint16_t> halves(n);
    std::vector<std::uint32_t> words(2 * n);
    RandomStream{1, 0, 0}.fill(0, n, halves.data());
    RandomStream{1, 0, 0}.fill(0, 2 * n, words.data());
    for (std::size_t i = 0; i < n; ++i) {
      const auto wide = (std::uint64_t{words[2 * i + 1]} << 32) | words[2 * i];
      const bool keeps =
          p > 0.9 ? static_cast<long double>(wide) >= 0x1p64L * p : halves[i] >= 58982;
      REQUIRE(y(static_cast<Index>(i)) == (keeps ? 1.0 / (1.0 - p) : 0.0));
    }
  }
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
  const double p = GENERATE(0.25, 0.99);
  Parameter<float> x(Tensor<float>::full({5000}, 2.0F));
  Tape<float> tape({.training = true, .seed = 4});
  const auto y = dropout(tape.parameter(x), p);
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
  CHECK_THROWS_WITH(dropout(x, -0.1), "dropout: p: expected a probability from 0 to 1, got -0.1");
  CHECK_THROWS_AS(dropout(x, 1.1), ValueError);
  CHECK_THROWS_AS(dropout(x, std::numeric_limits<double>::quiet_NaN()), ValueError);
}

TEST_CASE("dropout: the same bits on 1, 2, 3 and 8 threads", "[autograd]") {
  const double p = GENERATE(0.5, 0.99);
  check_same_bits([&] {
    Tape<float> tape({.training = true, .seed = 4});
    return std::vector<Tensor<float>>{
        dropout(tape.constant(Tensor<float>::full({100001}, 1.0F)), p).value()};
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
