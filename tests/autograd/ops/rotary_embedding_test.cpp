#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include <weft/autograd/ops/rotary_embedding.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

constexpr RotaryPairs all_pairings[] = {RotaryPairs::interleaved, RotaryPairs::halves};

template <class T>
Tensor<T> rotated(const Tensor<T>& x, Index num_heads, const RotaryOptions& options = {}) {
  Tape<T> tape = Tape<T>::inference();
  return rotary_embedding(tape.constant(x), num_heads, options).value();
}

// The inner product of query i and key j.
double product(const Tensor<double>& queries, Index i, const Tensor<double>& keys, Index j) {
  double sum = 0.0;
  for (Index c = 0; c < queries.shape()[2]; ++c) sum += queries(0, i, c) * keys(0, j, c);
  return sum;
}

// The same random vector at `time` positions.
Tensor<double> repeated_vector(Index time, Index d, std::uint64_t seed) {
  const Tensor<double> vector = Random(seed).normal_tensor<double>({d});
  Tensor<double> x({1, time, d});
  for (Index i = 0; i < time; ++i)
    for (Index c = 0; c < d; ++c) x(0, i, c) = vector(c);
  return x;
}

}  // namespace

TEST_CASE("rotary embedding: a head of two channels rotates by its position in radians",
          "[autograd]") {
  // The unit vectors of the first and the second axis, twice.
  const Tensor<double> x({1, 4, 2}, {1, 0, 0, 1, 1, 0, 0, 1});
  const Tensor<double> expected({1, 4, 2}, {1, 0,                           //
                                            -std::sin(1.0), std::cos(1.0),  //
                                            std::cos(2.0), std::sin(2.0),   //
                                            -std::sin(3.0), std::cos(3.0)});
  for (const RotaryPairs pairs : all_pairings)
    CHECK(distance(rotated(x, 1, {.pairs = pairs}), expected) < 1e-15);
}

TEST_CASE("rotary embedding: pairs the channels of each head as the options say", "[autograd]") {
  // Two heads of four channels at position 1: the pairs rotate by 1 and by 100^(-2/4) = 0.1.
  const Tensor<double> x({1, 1, 8}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto rotate_pair = [](double a, double b, double angle) {
    return std::pair(a * std::cos(angle) - b * std::sin(angle),
                     a * std::sin(angle) + b * std::cos(angle));
  };
  Tensor<double> interleaved({1, 1, 8}), halves({1, 1, 8});
  for (Index head : {0, 4}) {
    double* to = interleaved.data() + head;
    const double* from = x.data() + head;
    std::tie(to[0], to[1]) = rotate_pair(from[0], from[1], 1.0);
    std::tie(to[2], to[3]) = rotate_pair(from[2], from[3], 0.1);
    to = halves.data() + head;
    std::tie(to[0], to[2]) = rotate_pair(from[0], from[2], 1.0);
    std::tie(to[1], to[3]) = rotate_pair(from[1], from[3], 0.1);
  }
  CHECK(distance(rotated(x, 2, {.base = 100.0, .first_position = 1}), halves) < 1e-15);
  CHECK(distance(
            rotated(x, 2, {.base = 100.0, .pairs = RotaryPairs::interleaved, .first_position = 1}),
            interleaved) < 1e-15);
}

TEST_CASE("rotary embedding: position 0 is unchanged, and norms are preserved", "[autograd]") {
  const Tensor<double> x = Random(1).normal_tensor<double>({2, 50, 12});
  for (const RotaryPairs pairs : all_pairings) {
    const Tensor<double> y = rotated(x, 3, {.pairs = pairs});
    for (Index batch : {0, 1})
      for (Index i = 0; i < 50; ++i) {
        double before = 0.0, after = 0.0;
        for (Index c = 0; c < 12; ++c) {
          if (i == 0) CHECK(y(batch, i, c) == x(batch, i, c));
          before += x(batch, i, c) * x(batch, i, c);
          after += y(batch, i, c) * y(batch, i, c);
        }
        CHECK(std::abs(after - before) < 1e-13 * before);
      }
  }
}

TEST_CASE("rotary embedding: products depend only on relative positions", "[autograd]") {
  const Index time = 40, d = 16;
  for (const RotaryPairs pairs : all_pairings) {
    const Tensor<double> queries = rotated(repeated_vector(time, d, 2), 1, {.pairs = pairs});
    const Tensor<double> keys = rotated(repeated_vector(time, d, 3), 1, {.pairs = pairs});
    for (Index i = 0; i < time; ++i)
      for (Index j = 0; j < time; ++j) {
        const Index relative = i - j;
        const double at_the_start = relative >= 0 ? product(queries, relative, keys, 0)
                                                  : product(queries, 0, keys, -relative);
        CHECK(std::abs(product(queries, i, keys, j) - at_the_start) < 1e-12);
      }
    // But they do depend on these.
    CHECK(std::abs(product(queries, 7, keys, 0) - product(queries, 0, keys, 0)) > 0.1);
  }
}

TEST_CASE("rotary embedding: first_position continues a sequence", "[autograd]") {
  const Tensor<double> x = Random(4).normal_tensor<double>({1, 9, 8});
  const Tensor<double> whole = rotated(x, 2);
  const Tensor<double> last({1, 3, 8}, x.values().last(24));
  CHECK(same(rotated(last, 2, {.first_position = 6}),
             Tensor<double>({1, 3, 8}, whole.values().last(24))));
}

TEST_CASE("rotary embedding: float matches double, also at large positions", "[autograd]") {
  const Tensor<float> x = Random(5).normal_tensor<float>({2, 5000, 8});
  Tensor<double> as_double(x.shape());
  std::copy(x.begin(), x.end(), as_double.begin());
  for (const RotaryPairs pairs : all_pairings)
    CHECK(distance(rotated(x, 2, {.pairs = pairs}), rotated(as_double, 2, {.pairs = pairs})) <
          1e-7);
}

TEST_CASE("rotary embedding: the same bits on any number of threads", "[autograd]") {
  const Tensor<float> x = Random(6).normal_tensor<float>({3, 300, 64});
  check_same_bits([&] {
    Tape<float> tape;
    Parameter<float> parameter(x);
    const Var y = rotary_embedding(tape.parameter(parameter), 4);
    std::vector<Tensor<float>> results{y.value()};
    tape.backward(y, x);
    results.push_back(parameter.grad());
    return results;
  });
}

TEST_CASE("rotary embedding: any number of leading axes, or none", "[autograd]") {
  const Tensor<double> x = Random(7).normal_tensor<double>({6, 5, 4});
  const Tensor<double> y = rotated(x, 2);
  CHECK(same(rotated(Tensor<double>({2, 3, 5, 4}, x.values()), 2),
             Tensor<double>({2, 3, 5, 4}, y.values())));
  CHECK(same(rotated(Tensor<double>({5, 4}, x.values().first(20)), 2),
             Tensor<double>({5, 4}, y.values().first(20))));
  CHECK(rotated(Tensor<double>({2, 0, 4}), 2).shape() == Shape{2, 0, 4});
}

TEST_CASE("rotary embedding: invalid shapes and options throw", "[autograd]") {
  const auto message = [](const Shape& shape, Index num_heads, const RotaryOptions& options = {}) {
    return message_of<Error>([&] { rotated(Tensor<float>(shape), num_heads, options); });
  };
  CHECK(message({2, 3, 6}, 2) ==
        "rotary_embedding: expected num_heads > 0 that divides the vectors into heads of even "
        "size, got num_heads 2 for vectors of size 6");
  CHECK(contains(message({2, 3, 6}, 0), "got num_heads 0 for vectors of size 6"));
  CHECK(contains(message({2, 3, 6}, 4), "got num_heads 4 for vectors of size 6"));
  CHECK(message({6}, 1) == "rotary_embedding: expected shape [..., time, num_heads · d], got [6]");
  CHECK(message({2, 6}, 1, {.base = 0.0}) ==
        "rotary_embedding: base: expected a finite number > 0, got 0");
  CHECK(contains(message({2, 6}, 1, {.base = std::numeric_limits<double>::quiet_NaN()}), "base"));
  CHECK(contains(message({2, 6}, 1, {.base = std::numeric_limits<double>::infinity()}), "base"));
  CHECK(message({2, 6}, 1, {.first_position = -1}) ==
        "rotary_embedding: first_position: expected a position ≥ 0, got -1");
}

TEST_CASE("rotary embedding: sequences that begin at different positions", "[autograd]") {
  const auto x = Random(8).normal_tensor<double>({3, 5, 8});
  auto tape = Tape<double>::inference();
  const RotaryOptions options{.pairs = RotaryPairs::halves, .first_position = 2};
  const auto y_of = [&](std::initializer_list<TokenId> first) {
    return rotary_embedding(tape.constant(x), 2, Tokens({std::ssize(first)}, first), options)
        .value();
  };
  const auto expect_row = [&](const Tensor<double>& y, Index i, Index first) {
    const Tensor<double> row({1, 5, 8}, x.values().subspan(static_cast<std::size_t>(i * 40), 40));
    const Tensor<double> alone =
        rotated(row, 2, {.pairs = RotaryPairs::halves, .first_position = 2 + first});
    CHECK(std::equal(alone.begin(), alone.end(), y.begin() + i * 40));
  };
  const Tensor<double> y = y_of({7, 0, 31}), equal = y_of({4, 4, 4}),
                       first_as_last = y_of({7, 0, 7});
  for (Index i = 0; i < 3; ++i) {
    expect_row(y, i, std::array{7, 0, 31}[static_cast<std::size_t>(i)]);
    expect_row(equal, i, 4);
    expect_row(first_as_last, i, std::array{7, 0, 7}[static_cast<std::size_t>(i)]);
  }
  CHECK_THROWS_AS(y_of({1, 2}), ShapeError);
  CHECK_THROWS_AS(y_of({1, 2, -1}), ValueError);
}

namespace weft {

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"rotary_embedding",
       "of two heads, with interleaved pairs",
       {{2, 3, 8}},
       {{10, 70, 32}},
       [](const auto& x) {
         return rotary_embedding(x[0], 2, {.pairs = RotaryPairs::interleaved});
       }},
      {"rotary_embedding",
       "of a part of each head",
       {{2, 3, 8}},
       {{10, 70, 32}},
       [](const auto& x) { return rotary_embedding(x[0], 2, {.size = 2}); }},
      {"rotary_embedding",
       "of two heads, with paired halves, from a later position on",
       {{2, 3, 8}},
       {{10, 70, 32}},
       [](const auto& x) {
         return rotary_embedding(
             x[0], 2, {.base = 100.0, .pairs = RotaryPairs::halves, .first_position = 5});
       }},
      {"rotary_embedding",
       "of sequences that begin at different positions",
       {{2, 3, 8}},
       {{10, 70, 32}},
       [](const auto& x) {
         Tokens first({x[0].shape()[0]});
         for (TokenId position = 3; TokenId & each : first) each = position += 4;
         return rotary_embedding(x[0], 2, first);
       }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
