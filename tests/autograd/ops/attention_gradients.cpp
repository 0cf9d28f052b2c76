#include <limits>

#include <weft/autograd/ops/attention.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {

namespace {

std::vector<GradientCase> rows() {
  return {
      {"scaled_dot_product_attention",
       "with two heads",
       {{2, 3, 4}, {2, 5, 4}, {2, 5, 6}},
       [](const Inputs& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2], {.num_heads = 2});
       }},
      {"scaled_dot_product_attention",
       "self-attention",
       {{2, 3, 4}},
       [](const Inputs& x) {
         return scaled_dot_product_attention(x[0], x[0], x[0], {.num_heads = 2});
       }},
      {"scaled_dot_product_attention",
       "with lengths, one of them 0",
       {{3, 2, 4}, {3, 4, 4}, {3, 4, 2}},
       [](const Inputs& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2],
                                             {.num_heads = 2, .mask = {.valid_lens = {2, 0, 4}}});
       }},
      {"scaled_dot_product_attention",
       "with a length for each query",
       {{2, 2, 4}, {2, 4, 4}, {2, 4, 4}},
       [](const Inputs& x) {
         const Tensor<std::int32_t> lengths({2, 2}, {1, 4, 0, 3});
         return scaled_dot_product_attention(x[0], x[1], x[2],
                                             {.mask = {.valid_lens = ValidLens(lengths)}});
       }},
      {"scaled_dot_product_attention",
       "causal, with many queries",
       {{1, 66, 2}, {1, 66, 2}, {1, 66, 2}},
       [](const Inputs& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2], {.mask = {.causal = true}});
       }},
      {"scaled_dot_product_attention",
       "with a boolean mask per head",
       {{1, 2, 4}, {1, 3, 4}, {1, 3, 4}},
       [](const Inputs& x) {
         const Tensor<bool> allowed({1, 2, 2, 3}, {true, false, true, false, false, false,  //
                                                   true, true, true, false, true, false});
         return scaled_dot_product_attention(x[0], x[1], x[2],
                                             {.num_heads = 2, .mask = {.allowed = allowed}});
       }},
      {"scaled_dot_product_attention",
       "with lengths and a bias, including -infinity",
       {{2, 2, 4}, {2, 3, 4}, {2, 3, 4}},
       [](const Inputs& x) {
         constexpr float masked = -std::numeric_limits<float>::infinity();
         const Tensor<float> bias({2, 2, 3}, {0.5F, masked, -1, masked, 2, 0,  //
                                              masked, masked, masked, 1, 0.25F, masked});
         return scaled_dot_product_attention(
             x[0], x[1], x[2], {.num_heads = 2, .mask = {.valid_lens = {1, 3}, .bias = bias}});
       }},
      {"scaled_dot_product_attention",
       "with dropout",
       {{2, 3, 4}, {2, 5, 4}, {2, 5, 4}},
       [](const Inputs& x) {
         return scaled_dot_product_attention(
             x[0], x[1], x[2], {.num_heads = 2, .mask = {.valid_lens = {3, 5}}, .dropout = 0.4});
       }},
      {"scaled_dot_product_attention",
       "with no keys",
       {{1, 2, 4}, {1, 0, 4}, {1, 0, 4}},
       [](const Inputs& x) { return scaled_dot_product_attention(x[0], x[1], x[2]); }},
  };
}

const GradientRows registered(rows());

}  // namespace
}  // namespace weft
