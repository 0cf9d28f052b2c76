#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/messages.hpp"

namespace weft {
namespace {

using Words = std::array<std::uint32_t, 4>;

std::vector<std::uint32_t> numbers(const RandomStream& stream, std::uint64_t first, Index count) {
  std::vector<std::uint32_t> result(static_cast<std::size_t>(count));
  stream.fill(first, count, result.data());
  return result;
}

}  // namespace

TEST_CASE("random: every number of zeros() is 0", "[autograd]") {
  Random zeros = Random::zeros();
  CHECK(zeros.below(7) == 0);
  CHECK(zeros.uniform() == 0.0);
  CHECK(zeros.normal() == 0.0);
}

TEST_CASE("philox: gives the known answers of Random123", "[autograd]") {
  // From kat_vectors of Random123: philox4x32, 10 rounds.
  CHECK(philox({0, 0, 0, 0}, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffffffffffff) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random stream: any part is philox of the position", "[autograd]") {
  const RandomStream stream{0x0123456789abcdef, 7, 9};
  // In each group of 64 numbers, number i is word i / 16 of the counter 16 · group + i % 16.
  const auto by_definition = [&](std::uint64_t i) {
    const std::uint64_t counter = i / 64 * 16 + i % 16;
    return philox({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32),
                   stream.stream, stream.step},
                  stream.seed)[i / 16 % 4];
  };
  constexpr std::uint64_t past_32_bits = (std::uint64_t{1} << 36) - 5;
  for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{63},
                                    std::uint64_t{64}, std::uint64_t{1000}, past_32_bits})
    for (const Index count : {0, 1, 63, 64, 65, 200}) {
      const auto part = numbers(stream, first, count);
      for (std::size_t i = 0; i < part.size(); ++i) {
        INFO("number " << first << " + " << i << " of " << count);
        REQUIRE(part[i] == by_definition(first + i));
      }
    }
}

TEST_CASE("random stream: seed, step and stream each change the numbers", "[autograd]") {
  const auto reference = numbers({1, 2, 3}, 0, 8);
  CHECK(numbers({1, 2, 3}, 0, 8) == reference);
  CHECK(numbers({2, 2, 3}, 0, 8) != reference);
  CHECK(numbers({1, 3, 3}, 0, 8) != reference);
  CHECK(numbers({1, 2, 4}, 0, 8) != reference);
}

TEST_CASE("random: resumes from its state", "[autograd]") {
  Random random(5);
  for (int i = 0; i < 10; ++i) random.normal();
  Random resumed(random.state());
  for (int i = 0; i < 10; ++i) CHECK(resumed.next() == random.next());
  CHECK(resumed.state() == random.state());
}

TEST_CASE("random: uniform and normal numbers have the expected mean and variance", "[autograd]") {
  constexpr Index count = 20000;
  const auto moments = [](const Tensor<double>& x) {
    const double n = static_cast<double>(x.size());
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
    const double squares = std::inner_product(x.begin(), x.end(), x.begin(), 0.0) / n;
    return std::pair(mean, squares - mean * mean);
  };
  Random random(6);
  const auto uniform = random.uniform_tensor<double>({count}, -1.0, 3.0);
  CHECK(std::all_of(uniform.begin(), uniform.end(), [](double v) { return v >= -1 && v < 3; }));
  CHECK(moments(uniform).first == Approx(1.0).margin(0.05));
  CHECK(moments(uniform).second == Approx(16.0 / 12.0).epsilon(0.05));
  const auto normal = random.normal_tensor<double>({count}, 2.0, 0.5);
  CHECK(moments(normal).first == Approx(2.0).margin(0.02));
  CHECK(moments(normal).second == Approx(0.25).epsilon(0.05));
}

TEST_CASE("random: tensors hold the numbers of single draws, on any number of threads",
          "[autograd]") {
  // More than one range, and no multiple of a group of draws.
  constexpr Index count = 20'003;
  const auto compute = [] {
    Random random(42);
    random.next();  // so that no group starts at draw 0
    std::vector<Tensor<double>> tensors;
    tensors.push_back(random.uniform_tensor<double>({count}, -2.0, 3.0));
    tensors.push_back(random.normal_tensor<double>({7, 11}, 1.0, 0.5));
    tensors.push_back(random.normal_tensor<double>({count}));
    tensors.push_back(random.uniform_tensor<double>({0}, 0.0, 1.0));
    CHECK(random.state().draws == 1 + count + 2 * 77 + 2 * count);
    return tensors;
  };
  const std::vector<Tensor<double>> tensors = compute();
  Random random(42);
  random.next();
  for (const double number : tensors[0]) REQUIRE(number == Approx(-2.0 + 5.0 * random.uniform()));
  for (const double number : tensors[1]) REQUIRE(number == Approx(1.0 + 0.5 * random.normal()));
  for (const double number : tensors[2]) REQUIRE(number == Approx(random.normal()));
  check_same_bits(compute);
}

TEST_CASE("random: a seed gives the same tensors in every version", "[autograd]") {
  Random random(42);
  const auto uniform = random.uniform_tensor<float>({2, 2}, -1.0, 1.0);
  const auto normal = random.normal_tensor<float>({2, 2});
  const std::vector<float> known_uniform{0.362561405f, -0.920597076f, -0.684945583f, 0.447881758f};
  const std::vector<float> known_normal{1.93958378f, 0.96043241f, -0.103272967f, -1.29608536f};
  CHECK(std::equal(uniform.begin(), uniform.end(), known_uniform.begin()));
  CHECK(std::equal(normal.begin(), normal.end(), known_normal.begin()));
  CHECK(random.state().draws == 12);
}

TEST_CASE("random: below is uniform over the numbers below the limit", "[autograd]") {
  Random random(7);
  std::array<int, 6> counts{};
  for (int i = 0; i < 6000; ++i) ++counts[static_cast<std::size_t>(random.below(6))];
  for (const int count : counts) CHECK(std::abs(count - 1000) < 150);
  // Of 2^64 numbers, a remainder of two thirds of this limit would make the lower ones come more
  // often: three times in four instead of two in three.
  constexpr Index limit = Index{3} << 61;
  int low = 0;
  for (int i = 0; i < 6000; ++i) low += random.below(limit) < limit / 3 * 2 ? 1 : 0;
  CHECK(std::abs(low - 4000) < 150);
  CHECK(random.below(1) == 0);
  CHECK_THROWS_WITH(random.below(0), "Random::below: expected a limit > 0, got 0");
  CHECK_THROWS_AS(random.below(-3), ValueError);
}

TEST_CASE("random: zeros of at most so many numbers", "[autograd]") {
  Random zeros = Random::zeros(10);
  CHECK(zeros.normal_tensor<float>({2, 3}).size() == 6);
  CHECK(zeros.uniform_tensor<double>({4}, 1, 2).size() == 4);
  CHECK(zeros.state().draws == 10);
  const std::string message = message_of<ValueError>([&] {
    zeros.uniform_tensor<float>({Index{1} << 30, 1 << 20}, 0, 1);
  });
  CHECK(message.starts_with("Random::zeros: expected at most 10 numbers, got "));
  CHECK(zeros.state().draws > 10);
  Random unlimited = Random::zeros();
  CHECK(unlimited.normal_tensor<float>({100}).size() == 100);
}

TEST_CASE("random: shuffle keeps the items and changes their order", "[autograd]") {
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  std::vector<int> shuffled = items;
  Random(8).shuffle(shuffled);
  CHECK(shuffled != items);
  std::vector<int> again = items;
  Random(8).shuffle(again);
  CHECK(again == shuffled);
  std::sort(shuffled.begin(), shuffled.end());
  CHECK(shuffled == items);
  std::vector<int> none;
  Random(8).shuffle(none);
  CHECK(none.empty());
}

}  // namespace weft
