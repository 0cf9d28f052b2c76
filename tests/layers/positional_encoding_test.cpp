#include <cmath>

#include <weft/layers/positional_encoding.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"

using namespace weft;

TEST_CASE("positional encoding: sine and cosine follow the formula", "[layers]") {
  const PositionalEncoding<double> layer({.num_hiddens = 4, .max_len = 60});
  const Tensor<double>& table = layer.table();
  CHECK(table.shape() == Shape{60, 4});
  for (Index i : {0, 1, 59}) {
    const auto position = static_cast<double>(i);
    CHECK(std::abs(table(i, 0) - std::sin(position)) < 1e-15);
    CHECK(std::abs(table(i, 1) - std::cos(position)) < 1e-15);
    CHECK(std::abs(table(i, 2) - std::sin(position / 100)) < 1e-15);
    CHECK(std::abs(table(i, 3) - std::cos(position / 100)) < 1e-15);
  }
}

TEST_CASE("positional encoding: an odd number of channels ends with a sine", "[layers]") {
  const PositionalEncoding<double> layer({.num_hiddens = 3, .max_len = 10});
  CHECK(std::abs(layer.table()(7, 2) - std::sin(7 / std::pow(10000.0, 2.0 / 3.0))) < 1e-15);
}

TEST_CASE("positional encoding: every sequence gets the first rows of the table", "[layers]") {
  const PositionalEncoding layer({.num_hiddens = 4, .max_len = 10});
  Tape tape;
  const Var y = layer(tape.constant(Tensor<float>::full({2, 3, 4}, 5.0f)));
  for (Index batch : {0, 1})
    for (Index i = 0; i < 3; ++i)
      for (Index c = 0; c < 4; ++c) CHECK(y.value()(batch, i, c) == 5.0f + layer.table()(i, c));
}

TEST_CASE("positional encoding: vectors at any positions", "[layers]") {
  Random random(1);
  const PositionalEncoding fixed({.num_hiddens = 4, .max_len = 10});
  const LearnedPositionalEncoding learned({.num_hiddens = 4, .max_len = 10}, random);
  Tape tape;
  const Var x = tape.constant(Tensor<float>::full({2, 3, 4}, 5.0f));
  const Tokens positions({2, 3}, {4, 5, 6, 9, 0, 9});
  const Var y = fixed(x, positions), z = learned(x, positions);
  for (Index batch : {0, 1})
    for (Index i = 0; i < 3; ++i)
      for (Index c = 0; c < 4; ++c) {
        CHECK(y.value()(batch, i, c) == 5.0f + fixed.table()(positions(batch, i), c));
        CHECK(z.value()(batch, i, c) == 5.0f + learned.weight.value()(positions(batch, i), c));
      }
  CHECK_THROWS_AS(fixed(x, Tokens({2, 3}, {0, 0, 0, 0, 10, 0})), ValueError);
  CHECK_THROWS_AS(learned(x, Tokens({2, 3}, {0, 0, 0, 0, -1, 0})), ValueError);
  CHECK(message_of<ShapeError>([&] { fixed(x, Tokens({3})); }) ==
        "PositionalEncoding: positions: expected [2, 3], got [3]");
  CHECK_THROWS_AS(learned(x, Tokens({2, 2})), ShapeError);
}

TEST_CASE("positional encoding: float agrees with double, also at large positions", "[layers]") {
  const PositionalEncoding<float> single({.num_hiddens = 6, .max_len = 5000});
  const PositionalEncoding<double> twice({.num_hiddens = 6, .max_len = 5000});
  CHECK(distance(single.table(), twice.table()) < 6e-8);
}

TEST_CASE("positional encoding: invalid arguments throw", "[layers]") {
  const PositionalEncoding layer({.num_hiddens = 4, .max_len = 10});
  Tape tape;
  CHECK(layer(tape.constant(Tensor<float>({1, 10, 4}))).shape() == Shape{1, 10, 4});
  CHECK(message_of<ValueError>([&] {
          layer(tape.constant(Tensor<float>({1, 11, 4})));
        }) == "PositionalEncoding: expected a sequence length of at most 10 (max_len), got 11");
  CHECK(message_of<ShapeError>([&] {
          layer(tape.constant(Tensor<float>({1, 5, 3})));
        }) == "PositionalEncoding: expected shape [batch, time, 4], got [1, 5, 3]");
  CHECK(contains(message_of<ValueError>([] { PositionalEncoding({.num_hiddens = 0}); }),
                 "PositionalEncoding: num_hiddens"));
  CHECK(
      contains(message_of<ValueError>([] { PositionalEncoding({.num_hiddens = 2, .max_len = 0}); }),
               "PositionalEncoding: max_len"));
}

TEST_CASE("positional encoding: max_len is 1000 by default", "[layers]") {
  CHECK(PositionalEncoding({.num_hiddens = 2}).table().shape() == Shape{1000, 2});
  CHECK(PositionalEncodingOptions{}.max_len == 1000);
  CHECK(LearnedPositionalEncodingOptions{}.max_len == 1000);
}

TEST_CASE("positional encoding: dropout is applied after the addition", "[layers]") {
  Random random(1);
  const PositionalEncoding<float> fixed({.num_hiddens = 8, .dropout = 0.5, .max_len = 20});
  const LearnedPositionalEncoding<float> learned({.num_hiddens = 8, .dropout = 0.5, .max_len = 20},
                                                 random);
  const auto check = [](const auto& layer, const Tensor<float>& table) {
    Tape tape({.training = true, .seed = 3});
    const Var y = layer(tape.constant(Tensor<float>::full({1, 20, 8}, 5.0F)));
    Index dropped = 0;
    for (Index i = 0; i < 20; ++i)
      for (Index c = 0; c < 8; ++c) {
        if (y.value()(0, i, c) == 0.0F)
          ++dropped;
        else  // kept elements are divided by 1 - 0.5
          CHECK(y.value()(0, i, c) == 2.0F * (5.0F + table(i, c)));
      }
    CHECK(dropped > 40);  // of 160
    CHECK(dropped < 120);
  };
  check(fixed, fixed.table());
  check(learned, learned.weight.value());
}

TEST_CASE("positional encoding: a shift is the same rotation at every position", "[layers]") {
  // P[i + δ] from P[i]: each pair of columns is rotated by δ times its frequency.
  const Index d = 8, max_len = 60;
  const Index shift = GENERATE(1, 5, 30, 59);
  const PositionalEncoding<double> layer({.num_hiddens = d, .max_len = max_len});
  const Tensor<double>& table = layer.table();
  for (Index i = 0; i + shift < max_len; ++i)
    for (Index j = 0; j < d; j += 2) {
      const double angle =
          static_cast<double>(shift) / std::pow(10000.0, static_cast<double>(j) / d);
      const double sine = table(i, j), cosine = table(i, j + 1);
      CHECK(std::abs(table(i + shift, j) - (std::cos(angle) * sine + std::sin(angle) * cosine)) <
            1e-13);
      CHECK(std::abs(table(i + shift, j + 1) -
                     (std::cos(angle) * cosine - std::sin(angle) * sine)) < 1e-13);
    }
}

TEST_CASE("learned positional encoding: every sequence gets the first vectors", "[layers]") {
  Random random(1);
  const LearnedPositionalEncoding<float> layer({.num_hiddens = 4, .max_len = 10}, random);
  Tape tape;
  const Var y = layer(tape.constant(Tensor<float>::full({2, 3, 4}, 5.0F)));
  for (Index batch : {0, 1})
    for (Index i = 0; i < 3; ++i)
      for (Index c = 0; c < 4; ++c)
        CHECK(y.value()(batch, i, c) == 5.0F + layer.weight.value()(i, c));
  tape.backward(y, Tensor<float>::full(y.shape(), 1.0F));
  const Tensor<float>& grad = layer.weight.grad();
  CHECK(grad(2, 0) == 2.0F);
  CHECK(grad(3, 0) == 0.0F);
  CHECK(message_of<ValueError>([&] {
          layer(tape.constant(Tensor<float>({1, 11, 4})));
        }) ==
        "LearnedPositionalEncoding: expected a sequence length of at most 10 (max_len), got 11");
  CHECK(message_of<ShapeError>([&] {
          layer(tape.constant(Tensor<float>({1, 3, 5})));
        }) == "LearnedPositionalEncoding: expected shape [batch, time, 4], got [1, 3, 5]");
}
