// Random calls of the public API, each sequence determined by its seed: whatever is called, in
// whatever order, must either work or throw an Error, and neither sanitizer may find anything.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <limits>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/autograd/parallel.hpp>
#include <weft/autograd/random.hpp>
#include <weft/autograd/tensor.hpp>
#include "tests/catch.hpp"

namespace weft {

// Random arguments, most of them sensible.
class Arguments {
 public:
  explicit Arguments(std::uint64_t seed) : random_(seed) {}

  Random& random() { return random_; }
  bool chance(double probability) { return random_.uniform() < probability; }
  Index below(Index limit) { return random_.below(limit); }
  bool flag() { return chance(0.5); }

  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return std::data(choices)[below(std::ssize(choices))];
  }
  template <class Container>
  auto& any(Container& container) {
    return container[static_cast<std::size_t>(below(std::ssize(container)))];
  }

  // A size, axis or count: small, rarely negative, very rarely enormous.
  Index integer() {
    constexpr Index most = std::numeric_limits<Index>::max();
    if (chance(0.01)) return one_of<Index>({most, -most - 1, most / 2 + 1, most / 8});
    return chance(0.1) ? -1 - below(4) : below(6);
  }
  // A probability, rate or factor.
  double number() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (chance(0.05))
      return one_of({infinity, -infinity, std::numeric_limits<double>::quiet_NaN(), 1e308, -0.0});
    return chance(0.5) ? random_.uniform() : random_.normal();
  }
  // Sizes that have memory; a long axis makes several ranges.
  Shape shape() {
    std::vector<Index> sizes(static_cast<std::size_t>(below(5)));
    for (Index& size : sizes) size = below(5);
    if (!sizes.empty() && chance(0.05)) any(sizes) = 3000;
    return Shape(sizes);
  }
  // A shape that differs in one axis at most.
  Shape like(const Shape& shape) {
    std::vector<Index> sizes(shape.begin(), shape.end());
    if (chance(0.2) && shape.rank() < Shape::max_rank)
      sizes.insert(sizes.begin() + below(std::ssize(sizes) + 1), below(4));
    else if (chance(0.2) && !sizes.empty())
      sizes.erase(sizes.begin() + below(std::ssize(sizes)));
    else if (chance(0.5) && !sizes.empty())
      any(sizes) = chance(0.1) ? 700 : below(7);
    const Shape changed(sizes);
    return changed.elements() > 1'000'000 ? shape : changed;
  }
  // Ids, of which a few are out of range.
  Tensor<std::int32_t> ids(const Shape& shape, Index limit) {
    Tensor<std::int32_t> ids(shape);
    for (std::int32_t& id : ids)
      id = static_cast<std::int32_t>(below(limit)) - (chance(0.005) ? static_cast<int>(limit) : 0);
    return ids;
  }
  Tensor<bool> booleans(const Shape& shape) {
    Tensor<bool> values(shape);
    for (bool& value : values) value = flag();
    return values;
  }

 private:
  Random random_;
};

// Calls sequence(arguments) for seeds from 1 on: `least` of them, or for as many seconds as
// WEFT_RANDOM_SECONDS says, on 1 to 3 threads. Several processes agree on whether to go on.
template <class TokenIds>
void for_random_sequences(
    const TokenIds& sequence, std::uint64_t least = 200,
    const std::function<bool(bool)>& agree = [](bool own) { return own; }) {
  const char* const seconds = std::getenv("WEFT_RANDOM_SECONDS");
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(seconds ? std::strtol(seconds, nullptr, 10) : 0);
  const int threads = thread_count();
  std::uint64_t seed = 0;
  while (agree(seed < least || std::chrono::steady_clock::now() < end)) {
    INFO("seed " << ++seed);
    Arguments arguments(seed);
    set_thread_count(static_cast<int>(1 + seed % 3));
    REQUIRE_NOTHROW(sequence(arguments));
  }
  set_thread_count(threads);
  if (seconds) WARN(seed << " sequences");
}

// Makes a call that may throw an Error; any other exception fails the test.
template <class Call>
void attempt(const Call& call) {
  try {
    call();
  } catch (const Error&) {
  }
}

}  // namespace weft
