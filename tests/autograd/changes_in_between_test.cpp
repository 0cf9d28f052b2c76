// Nothing that is written between forward and backward changes what backward computes.
#include <algorithm>
#include <utility>
#include <vector>

#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/attention.hpp>
#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/embedding.hpp>
#include <weft/autograd/ops/mask.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/autograd/ops/unfold.hpp>
#include <weft/autograd/random.hpp>
#include "tests/catch.hpp"

namespace weft {
namespace {

std::vector<double> values(const Tensor<double>& tensor) { return {tensor.begin(), tensor.end()}; }

Parameter<double> noise(Shape shape, std::uint64_t seed = 1) {
  return Parameter<double>(Random(seed).normal_tensor<double>(shape));
}

}  // namespace

TEST_CASE("between forward and backward: an input may be overwritten", "[autograd]") {
  const Parameter<double> p(Tensor<double>({2}, {1, 2}));
  Tensor<double> x({2}, {3, 4});
  Tape<double> tape;
  const Var y = multiply(tape.parameter(p), tape.constant(x));
  x(0) = 100;
  x.values()[1] = 100;
  tape.backward(sum(y));
  CHECK(values(p.grad()) == std::vector<double>{3, 4});
}

TEST_CASE("between forward and backward: a parameter may get new values", "[autograd]") {
  Parameter<double> p(Tensor<double>({2}, {1, 2})), q(Tensor<double>({2}, {3, 4}));
  Tape<double> tape;
  const Var y = multiply(tape.parameter(p), tape.parameter(q));
  p(0) = 100;
  q.set_value(Tensor<double>({2}, {100, 100}));
  tape.backward(sum(y));
  CHECK(values(p.grad()) == std::vector<double>{3, 4});
  CHECK(values(q.grad()) == std::vector<double>{1, 2});
  CHECK(p.value()(0) == 100.0);
  CHECK(q.value()(1) == 100.0);
}

TEST_CASE("between forward and backward: a result may be copied and overwritten", "[autograd]") {
  const Parameter<double> p(Tensor<double>({2}, {0, 1}));
  Tape<double> tape;
  const Var y = exp(tape.parameter(p));
  Tensor<double> copy = y.value();
  copy.fill(100);
  tape.backward(sum(y));
  CHECK(p.grad()(0) == 1.0);
  CHECK(p.grad()(1) == Approx(std::exp(1.0)));
}

TEST_CASE("between forward and backward: a parameter replaced by one of another shape is an error",
          "[autograd]") {
  Parameter<double> p = noise({2, 3});
  Tape<double> tape;
  const Var y = sum(tape.parameter(p));
  p = noise({5});
  CHECK_THROWS_WITH(tape.backward(y), "gradient of a parameter: expected [5], got [2, 3]");
  CHECK_FALSE(p.has_grad());
}

TEST_CASE("a gradient that was read does not change with the next pass", "[autograd]") {
  Parameter<double> p(Tensor<double>({2}, {1, 2}));
  Tape<double> tape;
  tape.backward(sum(tape.parameter(p)));
  const Tensor<double> first = p.grad();
  tape.backward(sum(tape.parameter(p)));
  p.zero_grad();
  tape.backward(sum(multiply(tape.parameter(p), tape.parameter(p))));
  CHECK(values(first) == std::vector<double>{1, 1});
  CHECK(values(p.grad()) == std::vector<double>{2, 4});
}

// Even through a pointer from before: a wrong index in backward would write anywhere.
TEST_CASE("between forward and backward: tokens may be overwritten through a span", "[autograd]") {
  const Parameter<double> weight = noise({4, 3});
  Tokens tokens({3}, {0, 1, 3});
  const std::span<TokenId> span = tokens.values();
  Tape<double> tape;
  const Var y = embedding(tokens, tape.parameter(weight));
  std::ranges::fill(span, 1 << 30);
  tape.backward(sum(y));
  CHECK(values(weight.grad()) == std::vector<double>{1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1});
}

TEST_CASE("between forward and backward: targets may be overwritten through a span", "[autograd]") {
  const Parameter<double> logits = noise({2, 3});
  Tokens targets({2}, {0, 2});
  const auto gradient = [&](bool overwrite) {
    Tokens own = targets.clone();
    const std::span<TokenId> span = own.values();
    Parameter<double> p = logits;
    Tape<double> tape;
    const Var loss = cross_entropy(tape.parameter(p), own);
    if (overwrite) std::ranges::fill(span, -(1 << 30));
    tape.backward(loss);
    return values(p.grad());
  };
  CHECK(gradient(true) == gradient(false));
}

TEST_CASE("between forward and backward: lengths may be overwritten through a span", "[autograd]") {
  const auto gradient = [](bool overwrite) {
    const Parameter<double> q = noise({2, 3, 4}, 1), k = noise({2, 5, 4}, 2), v = noise({2, 5, 4});
    Tensor<std::int32_t> lengths({2}, {2, 5});
    const std::span<std::int32_t> span = lengths.values();
    Tape<double> tape;
    const ValidLens valid_lens(std::move(lengths));
    const Var y = scaled_dot_product_attention(tape.parameter(q), tape.parameter(k),
                                               tape.parameter(v), {.mask = valid_lens});
    if (overwrite) std::ranges::fill(span, 1 << 30);
    tape.backward(sum(y));
    std::vector<double> all = values(q.grad());
    for (const auto* p : {&k, &v}) all.insert(all.end(), p->grad().begin(), p->grad().end());
    return all;
  };
  CHECK(gradient(true) == gradient(false));
}

}  // namespace weft
