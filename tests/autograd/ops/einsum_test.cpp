#include <algorithm>
#include <cmath>
#include <type_traits>

#include <weft/autograd/ops/einsum.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"

namespace weft {

TEMPLATE_TEST_CASE("einsum: values computed by hand", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto a = tape.constant(Tensor<TestType>({2, 2}, {1, 2, 3, 4}));
  const auto b = tape.constant(Tensor<TestType>({2, 2}, {5, 6, 7, 8}));
  const auto v = tape.constant(Tensor<TestType>({2}, {10, 100}));
  const auto check = [&](const char* equation, const auto& x, const auto& y, const Shape& shape,
                         std::initializer_list<TestType> expected) {
    INFO(equation);
    CHECK(same(einsum(equation, x, y).value(), Tensor<TestType>(shape, expected)));
  };
  check("ij,jk->ik", a, b, {2, 2}, {19, 22, 43, 50});
  check("ij,jk->ki", a, b, {2, 2}, {19, 43, 22, 50});
  check("ji,jk->ik", a, b, {2, 2}, {26, 30, 38, 44});
  check("ij,kj->ik", a, b, {2, 2}, {17, 23, 39, 53});
  check("ij,ij->ij", a, b, {2, 2}, {5, 12, 21, 32});
  check("ij,ij->", a, b, {}, {70});
  check("ij,j->i", a, v, {2}, {210, 430});
  check("i,ij->j", v, a, {2}, {310, 420});
  check("i,j->ij", v, v, {2, 2}, {100, 1000, 1000, 10000});
  // Axes that only one operand has are summed over.
  check("ij,k->i", a, v, {2}, {330, 770});
  check("ij,kl->il", a, b, {2, 2}, {36, 42, 84, 98});
}

TEMPLATE_TEST_CASE("einsum: batches against plain loops, at size", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto a = Random(1).normal_tensor<TestType>({5, 37, 4, 19});
  const auto b = Random(2).normal_tensor<TestType>({5, 41, 4, 19});
  const auto y = einsum("bqhd,bkhd->bhqk", tape.constant(a), tape.constant(b)).value();
  REQUIRE(y.shape() == Shape{5, 4, 37, 41});
  double worst = 0;
  for (Index i = 0; i < y.size(); ++i) {
    const Index k = i % 41, q = i / 41 % 37, h = i / 41 / 37 % 4, n = i / 41 / 37 / 4;
    double sum = 0;
    for (Index d = 0; d < 19; ++d) sum += double{a(n, q, h, d)} * double{b(n, k, h, d)};
    worst = std::max(worst, std::abs(sum - double{y.data()[i]}));
  }
  CHECK(worst < (std::is_same_v<TestType, float> ? 1e-4 : 1e-12));
}

TEST_CASE("einsum: wrong equations, ranks and sizes throw", "[autograd]") {
  Tape<float> tape, other;
  const auto a = tape.constant(Tensor<float>({2, 3})), b = tape.constant(Tensor<float>({4, 3}));
  for (const char* equation : {"", "ij,jk", "ij->ij", "ij,kj-ik", "ii,kj->ik", "ij,kj->ikk",
                               "ij,kj->im", "ij,k j->ik", "->ij,kj", "ij,kj,l->ik", "i1,kj->ik"}) {
    INFO(equation);
    CHECK_THROWS_AS(einsum(equation, a, b), ValueError);
  }
  CHECK_THROWS_WITH(einsum("ij,jk", a, b),
                    "einsum: expected an equation such as bqd,bkd->bqk, with no letter twice in a "
                    "term, got ij,jk");
  CHECK_THROWS_WITH(einsum("ij,kjl->ik", a, b),
                    "einsum: operand b: expected 3 axes (kjl), got [4, 3]");
  CHECK_THROWS_AS(einsum("ij,jk->ik", a, b), ShapeError);
  CHECK_THROWS_WITH(einsum("ij,jk->ik", a, b),
                    "einsum ij,jk->ik: expected equal sizes of j, got [2, 3] and [4, 3]");
  CHECK_THROWS_WITH(einsum("ij,kj->ik", a, other.constant(Tensor<float>({4, 3}))),
                    "einsum: expected inputs on one tape, got inputs on different tapes (write "
                    "tape.constant(x) for a tensor x)");
}

TEST_CASE("einsum: the same bits on any number of threads", "[autograd]") {
  Random random(5);
  Parameter<float> a(random.normal_tensor<float>({6, 50, 70})),
      b(random.normal_tensor<float>({80, 6, 70}));
  check_same_bits([&] {
    Tape<float> tape;
    a.zero_grad();
    b.zero_grad();
    const Var y = einsum("bqd,kbd->qkb", tape.parameter(a), tape.parameter(b));
    tape.backward(y, Tensor<float>::full(y.shape(), 0.5F));
    return std::vector{y.value(), a.grad().clone(), b.grad().clone()};
  });
}

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"einsum",
       "a batch, transposed",
       {{2, 3, 4}, {2, 5, 4}},
       {{4, 90, 60}, {4, 80, 60}},
       [](const auto& x) { return einsum("bqd,bkd->bqk", x[0], x[1]); }},
      {"einsum",
       "axes that move",
       {{3, 2, 4}, {4, 3, 2}},
       {{50, 6, 70}, {70, 80, 6}},
       [](const auto& x) { return einsum("qbd,dkb->kbq", x[0], x[1]); }},
      {"einsum",
       "axes that are summed over",
       {{2, 3, 2}, {3, 4, 2}},
       {{40, 50, 30}, {50, 60, 20}},
       [](const auto& x) { return einsum("ijm,jkn->ki", x[0], x[1]); }},
      {"einsum",
       "an outer product",
       {{4}, {3}},
       {{300}, {200}},
       [](const auto& x) { return einsum("i,j->ji", x[0], x[1]); }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
