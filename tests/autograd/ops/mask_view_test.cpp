#include "autograd/ops/internal/mask_view.hpp"

#include <cmath>
#include <limits>

#include <weft/autograd/error.hpp>
#include <weft/autograd/random.hpp>
#include "tests/catch.hpp"

namespace weft {
namespace {

constexpr Index batch = 3, heads = 2, queries = 4, keys = 5;

Tensor<bool> random_booleans(Random& random, const Shape& shape) {
  Tensor<bool> tensor(shape);
  for (bool& value : tensor) value = random.uniform() < 0.3;
  return tensor;
}

Tensor<float> random_bias(Random& random, const Shape& shape) {
  Tensor<float> tensor(shape);
  for (float& value : tensor)
    value = random.uniform() < 0.3 ? 1.0F : -std::numeric_limits<float>::infinity();
  return tensor;
}

ValidLens random_lengths(Random& random, const Shape& shape) {
  Tensor<std::int32_t> lengths(shape);
  for (std::int32_t& length : lengths) length = static_cast<std::int32_t>(random.below(keys + 1));
  return ValidLens(lengths);
}

// By definition: some query attends to the key in some head.
bool is_visible(const MaskView& view, Index b, Index key) {
  const float score = 0.0F;
  float masked = 0.0F;
  for (Index head = 0; head < heads; ++head)
    for (Index query = 0; query < queries; ++query)
      if (key < view.limit(b, query) &&
          std::isfinite(*view.apply(b, head, query, key, 1, &score, &masked)))
        return true;
  return false;
}

}  // namespace

TEST_CASE("mask view: the visible keys are those that some query attends to", "[autograd]") {
  const std::vector<Shape> shapes = {
      {0}, {1, queries, keys}, {batch, queries, keys}, {batch, heads, queries, keys}};
  Random random(3);
  for (const Shape& allowed : shapes)
    for (const Shape& bias : shapes)
      for (const bool causal : {false, true})
        for (const Shape& lengths : {Shape{0}, Shape{batch}, Shape{batch, queries}}) {
          Mask mask{.causal = causal,
                    .window = random.uniform() < 0.5 ? std::optional<Index>(1 + random.below(4))
                                                     : std::nullopt,
                    .keys = random.uniform() < 0.5 ? random_booleans(random, {batch, keys})
                                                   : Tensor<bool>(),
                    .allowed = random_booleans(random, allowed),
                    .bias = random_bias(random, bias)};
          if (lengths != Shape{0}) mask.valid_lens = random_lengths(random, lengths);
          const MaskView view("test", mask, batch, heads, queries, keys);
          const Tensor<bool> visible = view.visible_keys();
          REQUIRE(visible.shape() == Shape{batch, keys});
          INFO("allowed " << allowed << ", bias " << bias << ", causal " << causal << ", lengths "
                          << lengths);
          for (Index b = 0; b < batch; ++b)
            for (Index key = 0; key < keys; ++key) {
              CHECK(visible(b, key) == is_visible(view, b, key));
              if (!mask.keys.empty() && !mask.keys(b, key)) CHECK_FALSE(visible(b, key));
              if (view.shows_all_below_limit())
                CHECK((key < view.largest_limit(b)) == is_visible(view, b, key));
            }
        }
}

TEST_CASE("mask view: a bias of many ranges is checked to the last element", "[autograd]") {
  Tensor<float> bias({1, 500, 300});
  MaskView("test", {.bias = bias}, 1, 1, 500, 300);
  bias(0, 499, 299) = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(MaskView("test", {.bias = bias}, 1, 1, 500, 300),
                    "test: mask: expected a bias of finite numbers or -infinity, got nan");
}

TEST_CASE("mask view: two axes do not fit, even if the second one has as many elements as heads",
          "[autograd]") {
  CHECK_THROWS_AS(MaskView("test", {.allowed = Tensor<bool>({3, 2})}, 1, 2, 3, 2), ShapeError);
  CHECK_THROWS_AS(MaskView("test", {.allowed = Tensor<bool>({3, 1})}, 1, 2, 3, 1), ShapeError);
}

TEST_CASE("mask view: nothing is visible where there are no queries", "[autograd]") {
  const MaskView view("test", {.allowed = Tensor<bool>({1, 0, 3})}, 2, 1, 0, 3);
  CHECK(view.largest_limit(0) == 0);
  for (const bool visible : view.visible_keys()) CHECK_FALSE(visible);
}

}  // namespace weft
