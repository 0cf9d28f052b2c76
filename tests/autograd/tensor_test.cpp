#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/autograd/parameter.hpp>
#include <weft/autograd/random.hpp>
#include <weft/autograd/tape.hpp>
#include <weft/autograd/tensor.hpp>
#include "autograd/internal/bfloat16.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"

namespace weft {

TEST_CASE("shape: axes count from both ends", "[autograd]") {
  const Shape shape{2, 3, 5};
  CHECK(shape.rank() == 3);
  CHECK(shape[0] == 2);
  CHECK(shape[-1] == 5);
  CHECK(shape.elements() == 30);
  CHECK(shape.rows() == 6);
  CHECK(shape.columns() == 5);
  CHECK(shape.to_string() == "[2, 3, 5]");
  CHECK_THROWS_AS(shape[3], ShapeError);
  CHECK_THROWS_AS(shape[-4], ShapeError);
}

TEST_CASE("shape: a scalar has one element, one row and one column", "[autograd]") {
  const Shape scalar{};
  CHECK(scalar.rank() == 0);
  CHECK(scalar.elements() == 1);
  CHECK(scalar.rows() == 1);
  CHECK(scalar.columns() == 1);
  CHECK(scalar.to_string() == "[]");
}

TEST_CASE("shape: rows are counted when the last axis is empty", "[autograd]") {
  const Shape shape{4, 3, 0};
  CHECK(shape.elements() == 0);
  CHECK(shape.rows() == 12);
  CHECK(shape.columns() == 0);
}

TEST_CASE("shape: axes are resized, removed and inserted", "[autograd]") {
  const Shape shape{2, 3};
  CHECK(shape.with(-1, 7) == Shape{2, 7});
  CHECK(shape.without(0) == Shape{3});
  CHECK(shape.inserted(0, 9) == Shape{9, 2, 3});
  CHECK(shape.inserted(2, 9) == Shape{2, 3, 9});
  CHECK(shape.inserted(-1, 9) == Shape{2, 3, 9});
  CHECK_THROWS_AS(shape.inserted(3, 1), ShapeError);
  CHECK(Shape{2, 3} != Shape{3, 2});
  CHECK(Shape{2, 3} != Shape{2, 3, 1});
}

TEST_CASE("shape: invalid sizes throw", "[autograd]") {
  constexpr Index huge = 50'000'000;
  CHECK_THROWS_WITH((Shape{2, -1}), "shape: expected sizes of at least 0, got -1");
  CHECK_THROWS_AS((Shape{huge, huge, huge}), ShapeError);
  CHECK_THROWS_AS((Shape{huge, huge, huge, huge, huge, huge}), ShapeError);
  CHECK_THROWS_AS((Shape{INT64_MAX}), ShapeError);
  CHECK_THROWS_AS((Shape{INT64_MAX, INT64_MAX, 2, 2}), ShapeError);
  // A product that overflows to 0 in 64 bits, and one that is 0.
  CHECK_THROWS_AS((Shape{Index{1} << 32, Index{1} << 32}), ShapeError);
  CHECK_THROWS_AS((Shape{0, Index{1} << 40, Index{1} << 40}), ShapeError);
  CHECK_THROWS_WITH((Shape{1, 1, 1, 1, 1, 1, 1}), "shape: expected at most 6 axes, got 7");
  CHECK_THROWS_AS((Shape{1, 1, 1, 1, 1, 1}.inserted(0, 1)), ShapeError);
}

TEST_CASE("tensor: is zeros or the given values in row-major order", "[autograd]") {
  const Tensor<float> zeros({2, 3});
  CHECK(std::all_of(zeros.begin(), zeros.end(), [](float v) { return v == 0.0F; }));
  const Tensor<float> tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(tensor(0, 2) == 3.0F);
  CHECK(tensor(1, 0) == 4.0F);
  CHECK(Tensor<float>::full({2}, 7.0F)(1) == 7.0F);
  CHECK(Tensor<float>().shape() == Shape{0});
  CHECK(Tensor<float>().empty());
  CHECK(reinterpret_cast<std::uintptr_t>(tensor.data()) % 64 == 0);
}

TEST_CASE("tensor: wrong numbers of values and wrong positions throw", "[autograd]") {
  CHECK_THROWS_WITH(Tensor<float>({2, 2}, {1, 2, 3}),
                    "tensor: expected 4 values for shape [2, 2], got 3");
  CHECK_THROWS_AS(Tensor<float>({2, 2}, {1, 2, 3, 4, 5}), ShapeError);
  const Tensor<float> tensor({2, 3});
  CHECK_THROWS_WITH(tensor(2, 0), "element: expected indices within [2, 3], got 2 on axis 0");
  CHECK_THROWS_WITH(tensor(0, -1), "element: expected indices within [2, 3], got -1 on axis 1");
  CHECK_THROWS_AS(tensor(0), ShapeError);
  CHECK_THROWS_WITH(tensor.item(), "item: expected a tensor of one element, got [2, 3]");
  CHECK(Tensor<float>({1, 1}, {5}).item() == 5.0F);
}

TEST_CASE("shape: more elements than can be counted throw, and name the sizes", "[autograd]") {
  CHECK_THROWS_WITH((Shape{2, Shape::max_elements}),
                    "shape: expected at most 2^56 elements, got [2, 72057594037927936]");
  CHECK_THROWS_AS((Shape{0, Shape::max_elements, 2}), ShapeError);
  CHECK((Shape{Shape::max_elements, 0}).elements() == 0);
  CHECK_THROWS_AS((Shape{1, std::numeric_limits<Index>::max()}), ShapeError);
}

TEST_CASE("shape: sizes broadcast only to equal ones, or from 1", "[autograd]") {
  CHECK(broadcast("test", {3, 1}, {2}) == Shape{3, 2});
  CHECK(broadcast("test", {1}, {0}) == Shape{0});
  CHECK(broadcast("test", {0, 2}, {1, 2}) == Shape{0, 2});
  for (const auto& [a, b] : {std::pair(Shape{2}, Shape{3}),
                             {Shape{2}, Shape{0}},
                             {Shape{4, 1}, Shape{2, 1}},
                             {Shape{2, 3}, Shape{2}}}) {
    CHECK_THROWS_AS(broadcast("test", a, b), ShapeError);
    CHECK_THROWS_AS(broadcast("test", b, a), ShapeError);
  }
}

TEST_CASE("shape: sums and products of sizes beyond the limit throw", "[autograd]") {
  constexpr Index most = Shape::max_elements, largest = std::numeric_limits<Index>::max();
  CHECK(size_sum("test", most - 1, 1) == most);
  CHECK(size_product("test", most / 4, 4) == most);
  CHECK(size_product("test", 0, largest) == 0);
  CHECK(size_product("test", largest, 0) == 0);
  CHECK_THROWS_WITH(size_sum("test", most, 1),
                    "test: expected at most 2^56 elements, got 72057594037927936 + 1");
  CHECK_THROWS_AS(size_sum("test", largest, largest), ShapeError);
  CHECK_THROWS_AS(size_product("test", largest, largest), ShapeError);
  CHECK_THROWS_AS(size_product("test", most / 2 + 1, 2), ShapeError);
}

TEST_CASE("shape: the position of an element that there is not throws", "[autograd]") {
  CHECK(Shape({2, 3}).position(5) == "[1, 2]");
  CHECK_THROWS_AS(Shape({2, 3}).position(6), ShapeError);
  CHECK_THROWS_AS(Shape({2, 3}).position(-1), ShapeError);
  CHECK_THROWS_AS(Shape({2, 0}).position(0), ShapeError);
}

TEST_CASE("tensor: a write to one copy does not show in another", "[autograd]") {
  Tensor<float> tensor({2}, {1, 2});
  Tensor<float> copy = tensor;
  const Tensor<float>& reader = tensor;
  CHECK(std::as_const(copy).data() == reader.data());
  CHECK(tensor.shared());
  copy(0) = 9;
  CHECK_FALSE(tensor.shared());
  CHECK(tensor(0) == 1.0F);
  CHECK(copy(0) == 9.0F);
  CHECK(copy(1) == 2.0F);

  Tensor<float> filled = tensor;
  filled.fill(5);
  Tensor<float> through_span = tensor;
  through_span.values()[1] = 6;
  Tensor<float> through_iterator = tensor;
  for (float& value : through_iterator) value = 7;
  CHECK(tensor(0) == 1.0F);
  CHECK(tensor(1) == 2.0F);
}

TEST_CASE("tensor: a clone has its own memory", "[autograd]") {
  const Tensor<float> tensor({2}, {1, 2});
  CHECK(tensor.clone().data() != tensor.data());
  CHECK_FALSE(tensor.shared());
}

TEST_CASE("tensor: one that was moved from is empty", "[autograd]") {
  Tensor<float> tensor({2, 3});
  const Tensor<float> moved = std::move(tensor);
  CHECK(moved.shape() == Shape{2, 3});
  CHECK(tensor.shape() == Shape{0});
  CHECK(tensor.values().empty());
  tensor = moved;
  const Tensor<float> assigned = std::exchange(tensor, Tensor<float>({1}, {4}));
  CHECK(assigned.shape() == Shape{2, 3});
  CHECK(tensor.item() == 4.0F);
}

TEST_CASE("tensor: a shape that does not fit into memory is named", "[autograd]") {
  CHECK_THROWS_WITH(Tensor<float>::uninitialized({Index{1} << 30, Index{1} << 25}),
                    "tensor: expected a shape that fits into memory, got [1073741824, 33554432]");
  CHECK_THROWS_AS(Tape<double>().uninitialized({Index{1} << 55}), ShapeError);
}

TEST_CASE("tensor: reshaped has the same elements and infers one size", "[autograd]") {
  const Tensor<float> tensor({2, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  Tensor<float> reshaped = tensor.reshaped({3, -1, 2});
  CHECK(reshaped.shape() == Shape{3, 2, 2});
  CHECK(reshaped(1, 0, 1) == 5.0F);
  reshaped(0, 0, 1) = 4;
  CHECK(tensor(0, 1) == 1.0F);
  CHECK(Tensor<float>({1}).reshaped(Shape{}).shape() == Shape{});
  CHECK(Tensor<float>({0, 3}).reshaped({-1, 3}).shape() == Shape{0, 3});
}

TEST_CASE("tensor: reshaping to a different number of elements throws", "[autograd]") {
  const Tensor<float> tensor({2, 6});
  CHECK_THROWS_WITH(tensor.reshaped({5}),
                    "reshape: expected a shape with 12 elements, like [2, 6], got [5]");
  CHECK_THROWS_WITH(tensor.reshaped({5, -1}),
                    "reshape: expected sizes that divide 12, the number of elements of [2, 6], got "
                    "a product of 5");
  CHECK_THROWS_WITH(tensor.reshaped({-1, -1}), "reshape: expected at most one size of -1, got two");
  CHECK_THROWS_AS(tensor.reshaped({0, -1}), ShapeError);
  CHECK_THROWS_AS(tensor.reshaped({-2, -6}), ShapeError);
  CHECK_THROWS_AS(tensor.reshaped({Index{1} << 40, Index{1} << 40, -1}), ShapeError);
  CHECK_THROWS_AS(tensor.reshaped({12, 1, 1, 1, 1, 1, -1}), ShapeError);
}

TEST_CASE("parameter: a copy has its own elements", "[autograd]") {
  Parameter<float> parameter(Tensor<float>({2}, {1, 2}));
  Parameter<float> copy = parameter;
  copy(0) = 9;
  CHECK(parameter.value()(0) == 1.0F);
  parameter = copy;
  copy(1) = 7;
  CHECK(parameter.value()(0) == 9.0F);
  CHECK(parameter.value()(1) == 2.0F);
}

TEST_CASE("parameter: two that were given the same values do not share them", "[autograd]") {
  const Tensor<float> values({2}, {1, 2});
  Parameter<float> a(values), b(values);
  a(0) = 9;
  CHECK(values(0) == 1.0F);
  CHECK(b.value()(0) == 1.0F);
  b.set_value(a.value());
  b.values()[1] = 8;
  CHECK(b.value()(0) == 9.0F);
  CHECK(a.value()(1) == 2.0F);
}

TEST_CASE("parameter: keeps its shape", "[autograd]") {
  Parameter<float> parameter(Tensor<float>({2}, {1, 2}));
  CHECK_THROWS_WITH(parameter.set_value(Tensor<float>({3})),
                    "parameter: value: expected [2], got [3]");
  CHECK(parameter.value()(1) == 2.0F);
  static_assert(!std::is_assignable_v<decltype(parameter.value()), Tensor<float>>);
}

TEST_CASE("tensor: is zeros in memory that had other numbers, of any size", "[autograd]") {
  constexpr Index mebibyte = 1 << 20;
  for (const Index bytes : {100, 5000, 100'000, 1'048'575, 1'048'576, 1'048'577, 5'000'001})
    for (int use = 0; use < 3; ++use) {
      Tensor<bool> zeros({bytes});
      CHECK(std::count(zeros.begin(), zeros.end(), false) == bytes);
      zeros.fill(true);
    }
  Tensor<double> numbers({mebibyte, 2});
  numbers.fill(1.0);
  CHECK(Tensor<double>({mebibyte, 2}).values().back() == 0.0);
}

TEST_CASE("parameter: the gradient is zeros until one is set", "[autograd]") {
  Parameter<float> parameter(Tensor<float>({2}, {1, 2}));
  CHECK_FALSE(parameter.has_grad());
  CHECK(parameter.grad()(1) == 0.0F);
  // Reading it changes nothing.
  CHECK_FALSE(parameter.has_grad());
  parameter.set_grad(Tensor<float>({2}, {0, 3}));
  CHECK(parameter.has_grad());
  CHECK(parameter.grad()(1) == 3.0F);
  parameter.zero_grad();
  CHECK_FALSE(parameter.has_grad());
  CHECK(parameter.grad()(1) == 0.0F);
}

TEST_CASE("tensor: numbers rounded to bf16 are kept until the elements are written",
          "[autograd][bf16]") {
  const Index size = 50'000;  // several ranges
  Tensor<float> x = Random(1).normal_tensor<float>({size});
  const auto agree = [](const Tensor<float>& values) {
    const std::uint16_t* const rounded = values.rounded_to_bf16().bf16();
    Index different = 0;
    for (Index i = 0; i < size; ++i) different += rounded[i] != bfloat16_of(values(i));
    return different == 0;
  };
  CHECK(agree(x));
  const std::uint16_t* const first = std::as_const(x).rounded_to_bf16().bf16();
  CHECK(std::as_const(x).rounded_to_bf16().bf16() == first);
  CHECK(!std::as_const(x).bf16());  // the elements themselves are not rounded

  const Tensor<float> copy = x;
  CHECK(copy.rounded_to_bf16().bf16() == first);
  x(7) = 3.0F;  // a write to shared memory copies the elements
  CHECK(copy.rounded_to_bf16().bf16() == first);
  CHECK(agree(copy));
  CHECK(agree(x));

  const float* const elements = std::as_const(x).data();
  x(8) = 5.0F;  // in place
  CHECK(std::as_const(x).data() == elements);
  CHECK(agree(x));
  x.fill(0.5F);
  CHECK(agree(x));
  CHECK(!x.shared());

  // A rounded tensor keeps its numbers when the elements are written in place, or are gone.
  Tensor<float> source = Tensor<float>::full({size}, 0.5F);
  const Tensor<float> half = source.rounded_to_bf16();
  source.fill(0.25F);
  CHECK(source.rounded_to_bf16()(0) == 0.25F);
  source = Tensor<float>();
  CHECK(half(0) == 0.5F);
  CHECK(half(size - 1) == 0.5F);

  const Tensor<float> exact = x.rounded_to_bf16();
  CHECK(exact.rounded_to_bf16().bf16() == exact.bf16());
  CHECK(Tensor<float>().rounded_to_bf16().shape() == Shape{0});

  CHECK_THROWS_WITH(Tokens({2}).rounded_to_bf16(),
                    "rounded_to_bf16: expected a tensor of float or double, got another type");
  CHECK_THROWS_WITH(Tokens::of_bf16({2}, [](auto) {}),
                    "of_bf16: expected a tensor of float or double, got another type");
}

TEST_CASE("tensor: bf16 numbers stay in 16 bits until they are written", "[autograd][bf16]") {
  const Index size = 50'000;  // several ranges
  const Tensor<float> x = Random(1).normal_tensor<float>({size});
  Tensor<float> rounded = x.rounded_to_bf16();
  const Tensor<float> copy = rounded;
  Index different = 0;
  for (Index i = 0; i < size; ++i) {
    const float value = float_of_bfloat16(bfloat16_of(x(i)));
    different += copy(i) != value || float_of_bfloat16(copy.bf16()[i]) != value;
  }
  CHECK(different == 0);
  CHECK(std::as_const(copy).data() == std::as_const(rounded).data());  // computed once
  CHECK(same(copy.clone(), copy));
  CHECK(copy.reshaped({2, -1}).bf16() == copy.bf16());
  CHECK(copy.rounded_to_bf16().bf16() == copy.bf16());

  CHECK(rounded.shared());
  CHECK(Tensor<float>::of_bf16({1}, [](auto numbers) { numbers[0] = 0; }).shared());
  rounded(3) = 7.0F;
  CHECK(!rounded.bf16());
  CHECK(!rounded.shared());
  CHECK(rounded(3) == 7.0F);
  CHECK(rounded(4) == copy(4));
  CHECK(copy.bf16() != nullptr);
  CHECK(copy(3) == float_of_bfloat16(bfloat16_of(x(3))));

  Tensor<float> from = copy;
  const Tensor<float> to = std::move(from);
  CHECK(to.bf16() == copy.bf16());
  CHECK(!from.bf16());  // NOLINT(bugprone-use-after-move)
  CHECK(from.empty());
  const Tensor<double> wide = Tensor<double>({2}, {1.0, 0.1}).rounded_to_bf16();
  CHECK(wide(0) == 1.0);
  CHECK(wide(1) == 0.10009765625);
}

TEST_CASE("tensor: several threads may ask for rounded numbers at once", "[autograd][bf16]") {
  for (int round = 0; round < 20; ++round) {
    const Tensor<float> x = Random(2).normal_tensor<float>({30'000});
    std::array<const std::uint16_t*, 4> found{};
    {
      std::vector<std::jthread> threads;
      for (auto& pointer : found)
        threads.emplace_back([&] { pointer = x.rounded_to_bf16().bf16(); });
    }
    for (const std::uint16_t* pointer : found) {
      REQUIRE(pointer == found[0]);
      REQUIRE(pointer[29'999] == bfloat16_of(x(29'999)));
    }
  }
}

}  // namespace weft
