#include <cmath>
#include <limits>

#include <weft/autograd/error.hpp>
#include <weft/autograd/random.hpp>
#include <weft/train/optim/clip.hpp>
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/train/affine.hpp"

using namespace weft;

TEST_CASE("clipping: gradients are scaled to the maximum norm", "[train]") {
  Affine<double> model({1}, {2});
  model.weight.set_grad(Tensor<double>({1}, {3.0}));
  model.bias.set_grad(Tensor<double>({2}, {0.0, -4.0}));
  CHECK(clip_grad_norm(model, 1.0) == 5.0);
  CHECK(std::abs(model.weight.grad()(0) - 0.6) < 1e-6);
  CHECK(std::abs(model.bias.grad()(1) + 0.8) < 1e-6);
}

TEST_CASE("clipping: small gradients are unchanged", "[train]") {
  Affine<float> model({1}, {2});
  model.weight.set_grad(Tensor<float>({1}, {3.0f}));
  CHECK(clip_grad_norm(model, 10.0) == 3.0);
  CHECK(clip_grad_norm(model, std::numeric_limits<double>::infinity()) == 3.0);
  CHECK(model.weight.grad()(0) == 3.0f);
}

TEST_CASE("clipping: parameters without gradients are ignored", "[train]") {
  Affine<float> model({2}, {2});
  CHECK(clip_grad_norm(model, 1.0) == 0.0);
  CHECK_FALSE(model.weight.has_grad());
  model.bias.set_grad(Tensor<float>::full(model.bias.shape(), 2.0f));
  model.bias.zero_grad();
  CHECK(clip_grad_norm(model, 1.0) == 0.0);
}

TEST_CASE("clipping: float gradients are summed in double", "[train]") {
  Affine<float> model({1'000'000}, {1});
  model.weight.set_grad(Tensor<float>::full(model.weight.shape(), 1e-4f));
  model.bias.set_grad(Tensor<float>({1}, {1e4f}));
  const double expected = std::sqrt(1e8 + 1e6 * std::pow(static_cast<double>(1e-4f), 2));
  CHECK(std::abs(clip_grad_norm(model, 1e9) - expected) < 1e-9);
}

TEST_CASE("clipping: a gradient that is not finite throws, and nothing is scaled", "[train]") {
  Affine<float> model({2}, {3});
  model.weight.set_grad(Tensor<float>::full(model.weight.shape(), 4.0f));
  model.bias.set_grad(Tensor<float>({3}, {0, 0, std::numeric_limits<float>::infinity()}));
  CHECK_THROWS_WITH(clip_grad_norm(model, 1.0),
                    "clipping: gradient of bias: expected finite numbers, got inf at [2] of [3]");
  CHECK_THROWS_AS(clip_grad_norm(model, 1.0), NonFiniteError);
  CHECK(model.weight.grad()(0) == 4.0f);
}

TEST_CASE("clipping: a norm that is not finite or negative throws", "[train]") {
  CHECK_THROWS_WITH(clip_factor(std::nan(""), 1.0),
                    "clipping: expected gradients with a finite norm, got norm nan");
  CHECK_THROWS_AS(clip_factor(std::numeric_limits<double>::infinity(), 1.0), NonFiniteError);
  CHECK_THROWS_AS(clip_factor(-1.0, 1.0), ValueError);
}

TEST_CASE("clipping: finite gradients whose norm overflows throw, and nothing is scaled",
          "[train]") {
  Affine<double> model({2}, {1});
  model.weight.set_grad(Tensor<double>::full({2}, 1e200));
  CHECK_THROWS_AS(clip_grad_norm(model, 1.0), NonFiniteError);
  CHECK(model.weight.grad()(0) == 1e200);
}

TEST_CASE("clipping: max_norm must be positive", "[train]") {
  CHECK_THROWS_WITH(clip_factor(1.0, 0.0), "clipping: max_norm: expected a number > 0, got 0");
  CHECK_THROWS_AS(clip_factor(1.0, std::nan("")), ValueError);
}

TEST_CASE("clipping: the norm has the same bits on 1, 2, 3 and 8 threads", "[train]") {
  Affine<float> model({123'457}, {77});
  Random random(4);
  model.weight.set_grad(random.normal_tensor<float>({123'457}));
  model.bias.set_grad(Tensor<float>::full(model.bias.shape(), 0.1f));
  const ParameterElements<float> elements(named_parameters(model));
  check_same_bits([&] { return std::vector{Tensor<double>({1}, {grad_norm(elements)})}; });
}
