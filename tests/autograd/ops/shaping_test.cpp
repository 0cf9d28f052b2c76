#include <algorithm>
#include <numeric>

#include <weft/autograd/ops/permute.hpp>
#include <weft/autograd/ops/shaping.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"

namespace weft {
namespace {

// 0, 1, 2, …
template <class T>
Tensor<T> counting(Shape shape) {
  Tensor<T> tensor(shape);
  std::iota(tensor.begin(), tensor.end(), T{0});
  return tensor;
}

template <class T>
std::vector<T> elements(const Tensor<T>& tensor) {
  return {tensor.begin(), tensor.end()};
}

// The reference for permute, element by element.
template <class T>
Tensor<T> reference_permute(const Tensor<T>& x, const std::vector<Index>& axes) {
  std::vector<Index> steps(axes.size(), 1), sizes;
  for (Index axis = x.rank() - 2; axis >= 0; --axis) {
    const auto a = static_cast<std::size_t>(axis);
    steps[a] = steps[a + 1] * x.shape()[axis + 1];
  }
  for (const Index axis : axes) sizes.push_back(x.shape()[axis]);
  Tensor<T> y{Shape(sizes)};
  for (Index i = 0; i < y.size(); ++i) {
    Index rest = i, source = 0;
    for (std::size_t axis = axes.size(); axis-- > 0; rest /= sizes[axis])
      source += rest % sizes[axis] * steps[static_cast<std::size_t>(axes[axis])];
    y.data()[i] = x.data()[source];
  }
  return y;
}

}  // namespace

TEMPLATE_TEST_CASE("reshape: the same elements in the same memory", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto x = tape.constant(counting<TestType>({2, 6}));
  const auto y = reshape(x, {3, -1, 2});
  CHECK(y.shape() == Shape{3, 2, 2});
  CHECK(y.value().data() == x.value().data());
  CHECK(reshape(x, Shape{12}).shape() == Shape{12});
  CHECK(reshape(tape.constant(Tensor<TestType>({0, 3})), {0, 5}).shape() == Shape{0, 5});
}

TEST_CASE("reshape: the gradient allocates no memory", "[autograd]") {
  Parameter<float> x(counting<float>({40, 40}));
  Tape<float> tape;
  for (int pass = 0; pass < 2; ++pass) {
    x.zero_grad();
    tape.backward(reshape(reshape(tape.parameter(x), {1600}), {20, 80}), counting<float>({20, 80}));
    CHECK(elements(x.grad()) == elements(counting<float>({40, 40})));
  }
  CHECK(tape.memory().bytes_held < 1000);  // of the backward functions; a gradient has 6400
}

TEST_CASE("reshape: a shape with a different number of elements throws", "[autograd]") {
  Tape<float> tape;
  const auto x = tape.constant(Tensor<float>({2, 3}));
  CHECK_THROWS_AS(reshape(x, {4, 2}), ShapeError);
  CHECK_THROWS_WITH(reshape(x, {4, 2}),
                    "reshape: expected a shape with 6 elements, like [2, 3], got [4, 2]");
  CHECK_THROWS_WITH(reshape(x, {-1, -1}), "reshape: expected at most one size of -1, got two");
  CHECK_THROWS_WITH(reshape(x, {4, -1}),
                    "reshape: expected sizes that divide 6, the number of elements of [2, 3], got "
                    "a product of 4");
}

TEMPLATE_TEST_CASE("transpose: values computed by hand", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto x = tape.constant(counting<TestType>({2, 3}));
  CHECK(transpose(x).shape() == Shape{3, 2});
  CHECK(elements(transpose(x).value()) == std::vector<TestType>{0, 3, 1, 4, 2, 5});
  const auto y = transpose(tape.constant(counting<TestType>({2, 2, 2})), 0, -1);
  CHECK(elements(y.value()) == std::vector<TestType>{0, 4, 2, 6, 1, 5, 3, 7});
}

TEMPLATE_TEST_CASE("permute: every order of four axes, including sizes 1 and 0", "[autograd]",
                   float, double) {
  auto tape = Tape<TestType>::inference();
  for (const Shape& shape : {Shape{2, 3, 4, 5}, Shape{5, 1, 3, 9}, Shape{1, 17, 1, 6},
                             Shape{2, 0, 3, 1}, Shape{1, 1, 1, 1}}) {
    const Tensor<TestType> x = counting<TestType>(shape);
    std::vector<Index> axes{0, 1, 2, 3};
    do {
      INFO(shape << " in order " << Shape(axes));
      const auto y = permute(tape.constant(x), std::span<const Index>(axes));
      const Tensor<TestType> expected = reference_permute(x, axes);
      CHECK(y.shape() == expected.shape());
      CHECK(elements(y.value()) == elements(expected));
    } while (std::next_permutation(axes.begin(), axes.end()));
  }
}

TEMPLATE_TEST_CASE("permute: tensors of many blocks", "[autograd]", float, double) {
  auto tape = Tape<TestType>::inference();
  for (const Shape& shape : {Shape{300, 517}, Shape{131, 5, 129}, Shape{3, 40000}, Shape{40000, 3},
                             Shape{40, 16, 4, 24}, Shape{2, 3, 2, 5, 2, 67}}) {
    const Tensor<TestType> x = counting<TestType>(shape);
    std::vector<Index> reversed(static_cast<std::size_t>(shape.rank()));
    std::iota(reversed.rbegin(), reversed.rend(), Index{0});
    std::vector<Index> swapped = reversed;
    std::sort(swapped.begin(), swapped.end());
    std::swap(swapped[0], swapped[1]);
    for (const auto& axes : {reversed, swapped}) {
      INFO(shape << " in order " << Shape(axes));
      CHECK(elements(permute(tape.constant(x), std::span<const Index>(axes)).value()) ==
            elements(reference_permute(x, axes)));
    }
  }
}

TEST_CASE("permute: shares the memory when no element moves", "[autograd]") {
  Tape<float> tape;
  const auto x = tape.constant(counting<float>({3, 1, 4, 1}));
  const auto y = permute(x, {1, 0, 3, 2});
  CHECK(y.shape() == Shape{1, 3, 1, 4});
  CHECK(y.value().data() == x.value().data());
}

TEST_CASE("permute, transpose: invalid axes throw", "[autograd]") {
  Tape<float> tape;
  const auto x = tape.constant(Tensor<float>({2, 3}));
  CHECK_THROWS_AS(permute(x, {0, 0}), ShapeError);
  CHECK_THROWS_WITH(permute(x, {0, 0}), "permute: expected each axis of [2, 3] once, got (0, 0)");
  CHECK_THROWS_WITH(permute(x, {0}), "permute: expected each axis of [2, 3] once, got (0)");
  CHECK_THROWS_WITH(permute(x, {0, 2}), "permute: expected an axis of [2, 3], got 2");
  CHECK_THROWS_WITH(transpose(x, 0, -3), "transpose: expected an axis of [2, 3], got -3");
  CHECK_THROWS_WITH(transpose(tape.constant(Tensor<float>({4}))),
                    "transpose: expected an axis of [4], got -2");
}

TEMPLATE_TEST_CASE("slice: values computed by hand", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto x = tape.constant(counting<TestType>({2, 3, 2}));
  CHECK(elements(slice(x, 0, 1, 2).value()) == std::vector<TestType>{6, 7, 8, 9, 10, 11});
  CHECK(elements(slice(x, 1, 1, 3).value()) == std::vector<TestType>{2, 3, 4, 5, 8, 9, 10, 11});
  CHECK(elements(slice(x, -1, 1, 2).value()) == std::vector<TestType>{1, 3, 5, 7, 9, 11});
  CHECK(slice(x, 1, 2, 2).shape() == Shape{2, 0, 2});
}

TEST_CASE("slice: elements outside get zero gradient", "[autograd]") {
  Parameter<double> x(counting<double>({2, 3}));
  Tape<double> tape;
  tape.backward(slice(tape.parameter(x), 1, 1, 2), Tensor<double>({2, 1}, {5, 7}));
  CHECK(elements(x.grad()) == std::vector<double>{0, 5, 0, 0, 7, 0});
  x.zero_grad();
  tape.backward(slice(tape.parameter(x), 0, 1, 1), Tensor<double>({0, 3}));
  CHECK(elements(x.grad()) == std::vector<double>(6, 0.0));
}

TEST_CASE("slice: positions outside the axis throw", "[autograd]") {
  Tape<float> tape;
  const auto x = tape.constant(Tensor<float>({2, 3}));
  CHECK_THROWS_AS(slice(x, 1, 1, 4), ShapeError);
  CHECK_THROWS_WITH(
      slice(x, -1, 1, 4),
      "slice: expected 0 ≤ begin ≤ end ≤ 3 on axis 1 of [2, 3], got begin 1 and end 4");
  CHECK_THROWS_AS(slice(x, 1, -1, 2), ShapeError);
  CHECK_THROWS_AS(slice(x, 1, 2, 1), ShapeError);
  CHECK_THROWS_WITH(slice(x, 2, 0, 1), "slice: expected an axis of [2, 3], got 2");
}

TEMPLATE_TEST_CASE("concatenate: values computed by hand", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto a = tape.constant(Tensor<TestType>({2, 2}, {1, 2, 3, 4}));
  const auto b = tape.constant(Tensor<TestType>({2, 1}, {5, 6}));
  const auto none = tape.constant(Tensor<TestType>({2, 0}));
  const auto y = concatenate(std::vector{a, none, b}, -1);
  CHECK(y.shape() == Shape{2, 3});
  CHECK(elements(y.value()) == std::vector<TestType>{1, 2, 5, 3, 4, 6});
  CHECK(elements(concatenate(std::vector{a, a}, 0).value()) ==
        std::vector<TestType>{1, 2, 3, 4, 1, 2, 3, 4});
  CHECK(concatenate(std::vector{none}, 1).shape() == Shape{2, 0});
}

TEST_CASE("concatenate: each of many tensors gets its gradient, with constants among them",
          "[autograd]") {
  Parameter<double> x(counting<double>({3, 2}));
  Tape<double> tape;
  const auto var = tape.parameter(x);
  std::vector<Var<double>> list;
  for (int i = 0; i < 20; ++i) {
    list.push_back(tape.constant(Tensor<double>({3, 1})));
    list.push_back(var);
  }
  const auto y = concatenate(list, 1);
  CHECK(y.shape() == Shape{3, 60});
  tape.backward(y, Tensor<double>::full({3, 60}, 1.0));
  CHECK(elements(x.grad()) == std::vector<double>(6, 20.0));
}

TEST_CASE("concatenate: shapes and tapes that do not match throw", "[autograd]") {
  Tape<float> tape, other;
  const auto a = tape.constant(Tensor<float>({2, 3})), b = tape.constant(Tensor<float>({2, 4}));
  CHECK_THROWS_AS(concatenate(std::vector{a, b}, 0), ShapeError);
  CHECK_THROWS_WITH(concatenate(std::vector{a, b}, 0),
                    "concatenate: expected shape [2, 3] except on axis 0, got [2, 4]");
  CHECK_THROWS_AS(concatenate(std::vector{a, reshape(a, {6})}, 0), ShapeError);
  CHECK_THROWS_WITH(concatenate(std::vector{a, b}, 2),
                    "concatenate: expected an axis of [2, 3], got 2");
  CHECK_THROWS_WITH(concatenate(std::vector<Var<float>>{}, 0),
                    "concatenate: expected at least one tensor, got an empty list");
  CHECK_THROWS_WITH(concatenate(std::vector{a, other.constant(Tensor<float>({2, 3}))}, 0),
                    "concatenate: expected inputs on one tape, got inputs on different tapes "
                    "(write tape.constant(x) for a tensor x)");
}

TEMPLATE_TEST_CASE("stack: values computed by hand", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto a = tape.constant(Tensor<TestType>({2}, {1, 2}));
  const auto b = tape.constant(Tensor<TestType>({2}, {3, 4}));
  CHECK(stack(std::vector{a, b, a}, 0).shape() == Shape{3, 2});
  CHECK(elements(stack(std::vector{a, b}, 0).value()) == std::vector<TestType>{1, 2, 3, 4});
  CHECK(stack(std::vector{a, b, a}, 1).shape() == Shape{2, 3});
  CHECK(elements(stack(std::vector{a, b}, -1).value()) == std::vector<TestType>{1, 3, 2, 4});
  const auto scalar = reshape(slice(a, 0, 0, 1), Shape{});
  CHECK(stack(std::vector{scalar, scalar}, 0).shape() == Shape{2});
}

TEST_CASE("stack: shapes that do not match throw", "[autograd]") {
  Tape<float> tape;
  const auto a = tape.constant(Tensor<float>({2, 3})), b = tape.constant(Tensor<float>({3, 2}));
  CHECK_THROWS_AS(stack(std::vector{a, b}, 0), ShapeError);
  CHECK_THROWS_WITH(stack(std::vector{a, b}, 0),
                    "stack: expected tensors of one shape, [2, 3], got [3, 2]");
  CHECK_THROWS_WITH(stack(std::vector{a}, 3),
                    "stack: expected an axis position from 0 to 2, got 3 for shape [2, 3]");
  CHECK_THROWS_WITH(stack(std::vector<Var<float>>{}, 0),
                    "stack: expected at least one tensor, got an empty list");
  CHECK_THROWS_WITH(stack(std::vector{reshape(a, {1, 1, 1, 1, 2, 3})}, 0),
                    "stack: expected fewer than 6 axes, got [1, 1, 1, 1, 2, 3]");
}

TEMPLATE_TEST_CASE("repeat: repeats each position", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto x = tape.constant(Tensor<TestType>({2, 2}, {1, 2, 3, 4}));
  CHECK(elements(repeat(x, 0, 2).value()) == std::vector<TestType>{1, 2, 1, 2, 3, 4, 3, 4});
  CHECK(elements(repeat(x, -1, 2).value()) == std::vector<TestType>{1, 1, 2, 2, 3, 3, 4, 4});
  CHECK(repeat(x, 1, 0).shape() == Shape{2, 0});
  CHECK_THROWS_AS(repeat(x, 0, -1), ValueError);
  CHECK_THROWS_WITH(repeat(x, 0, -1), "repeat: expected times ≥ 0, got -1");
}

TEST_CASE("shaping: the same bits on 1, 2, 3 and 8 threads", "[autograd]") {
  Random random(8);
  Parameter<float> x(random.normal_tensor<float>({70, 30, 40}));
  const Tensor<float> upstream = random.normal_tensor<float>({120, 140, 30});
  check_same_bits([&] {
    Tape<float> tape;
    const auto permuted = permute(tape.parameter(x), {2, 0, 1});
    const auto both =
        concatenate(std::vector{permuted, slice(transpose(permuted, 1, 2), 2, 0, 30)}, 1);
    const auto joined = reshape(stack(std::vector{both, both, both}, 0), {120, 100, 30});
    const auto y = concatenate(std::vector{slice(joined, 1, 20, 90), slice(joined, 1, 0, 70)}, 1);
    x.zero_grad();
    tape.backward(y, upstream);
    return std::vector<Tensor<float>>{y.value(), x.grad().clone()};
  });
}

TEST_CASE("shaping: passes after the first allocate no memory", "[autograd]") {
  Parameter<float> x(counting<float>({6, 8}));
  Tape<float> tape;
  const auto pass = [&] {
    const auto var = tape.parameter(x);
    const auto permuted = repeat(transpose(var), 1, 2);
    const auto y = concatenate(std::vector{permuted, slice(permuted, 0, 2, 5)}, 0);
    tape.backward(stack(std::vector{y, y}, 0), Tensor<float>({2, 11, 12}));
    return tape.memory().heap_requests;
  };
  const auto first = pass();
  CHECK(pass() == first);
}

namespace {

template <class T>
Var<T> constant_like(const Var<T>& x) {
  return x.tape().constant(Random(6).normal_tensor<T>(x.shape()));
}

std::vector<GradientCase> gradient_rows() {
  return {
      {"reshape",
       "with an inferred size",
       {{2, 6}},
       {{200, 300}},
       [](const auto& x) {
         return reshape(x[0], {3, -1});
       }},
      {"reshape",
       "from a scalar",
       {InputValues({})},
       {InputValues({})},
       [](const auto& x) {
         return reshape(x[0], Shape{1, 1});
       }},

      {"permute",
       "the heads of attention: the last axis stays",
       {{2, 3, 2, 4}},
       {{20, 30, 10, 10}},
       [](const auto& x) {
         return permute(x[0], {0, 2, 1, 3});
       }},
      {"permute",
       "the last axis to the front",
       {{2, 3, 5}},
       {{10, 20, 300}},
       [](const auto& x) {
         return permute(x[0], {-1, 0, 1});
       }},
      {"permute",
       "all axes reversed",
       {{2, 3, 1, 4, 2}},
       {{12, 23, 1, 14, 15}},
       [](const auto& x) {
         return permute(x[0], {4, 3, 2, 1, 0});
       }},
      {"permute",
       "the identity",
       {{2, 3}},
       {{200, 250}},
       [](const auto& x) {
         return permute(x[0], {0, 1});
       }},
      {"transpose",
       "a matrix of squares and a remainder",
       {{9, 6}},
       {{301, 290}},
       [](const auto& x) { return transpose(x[0]); }},
      {"transpose",
       "the first and the last of three axes",
       {{2, 3, 4}},
       {{40, 30, 50}},
       [](const auto& x) { return transpose(x[0], 0, 2); }},

      {"slice",
       "an axis in the middle",
       {{2, 5, 3}},
       {{20, 5, 900}},
       [](const auto& x) { return slice(x[0], 1, 1, 4); }},
      {"slice",
       "the last axis",
       {{3, 4}},
       {{40000, 4}},
       [](const auto& x) { return slice(x[0], -1, 2, 3); }},

      {"concatenate",
       "along the first axis",
       {{2, 3}, {1, 3}},
       {{200, 250}, {150, 250}},
       [](const auto& x) { return concatenate(x, 0); }},
      {"concatenate",
       "along the last axis, with an empty tensor",
       {{2, 3}, {2, 0}, {2, 2}},
       {{200, 250}, {200, 0}, {200, 200}},
       [](const auto& x) { return concatenate(x, -1); }},
      {"concatenate",
       "with a constant",
       {{2, 3}, {2, 1}},
       {{200, 250}, {200, 200}},
       [](const auto& x) {
         return concatenate(std::vector{x[0], constant_like(x[0]), x[1]}, 1);
       }},
      {"stack",
       "along a new first axis",
       {{2, 3}, {2, 3}},
       {{200, 250}, {200, 250}},
       [](const auto& x) { return stack(x, 0); }},
      {"stack",
       "along a new last axis",
       {{2, 3}, {2, 3}, {2, 3}},
       {{200, 200}, {200, 200}, {200, 200}},
       [](const auto& x) { return stack(x, -1); }},

      {"repeat",
       "an axis in the middle",
       {{2, 3, 2}},
       {{20, 30, 30}},
       [](const auto& x) { return repeat(x[0], 1, 3); }},
      {"repeat",
       "the last axis",
       {{2, 3}},
       {{200, 130}},
       [](const auto& x) { return repeat(x[0], -1, 2); }},
      {"repeat",
       "zero times",
       {{2, 3}},
       {{200, 250}},
       [](const auto& x) { return repeat(x[0], 0, 0); }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
