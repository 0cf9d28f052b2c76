#include <weft/autograd/ops/activation.hpp>
#include <weft/autograd/ops/dropout.hpp>
#include <weft/autograd/ops/linear.hpp>
#include <weft/autograd/ops/no_grad.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/autograd/ops/softmax.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"

namespace weft {

TEMPLATE_TEST_CASE("no_grad: operations on plain tensors", "[autograd]", float, double) {
  const Tensor<TestType> x({2, 2}, {1, 2, 3, 6}), weight({1, 2}, {10, 1});
  CHECK(no_grad([](const auto& v) { return mean(v); }, x).item() == 3);
  const Tensor<TestType> y =
      no_grad([](const auto& v, const auto& w) { return relu(linear(v, w)); }, x, weight);
  CHECK(same(y, Tensor<TestType>({2, 1}, {12, 36})));
  CHECK(same(x, Tensor<TestType>({2, 2}, {1, 2, 3, 6})));
}

TEST_CASE("no_grad: dropout is off, and nothing is recorded", "[autograd]") {
  const auto ones = Tensor<float>::full({100}, 1);
  NodeId node = 0;
  const Tensor<float> y = no_grad(
      [&](const auto& v) {
        node = v.node();
        return dropout(v, 0.5);
      },
      ones);
  CHECK(same(y, ones));
  CHECK(node == no_node);
}

TEST_CASE("no_grad: passes on the errors of the operation", "[autograd]") {
  CHECK_THROWS_WITH(no_grad([](const auto& v) { return mean(v); }, Tensor<float>({0})),
                    "mean: expected at least one element to reduce, got [0]");
}

}  // namespace weft
