#include <limits>

#include <weft/autograd/ops/softmax.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {

namespace {

std::vector<GradientCase> rows() {
  return {
      {"softmax", "over rows", {{2, 3, 5}}, [](const Inputs& x) { return softmax(x[0]); }},
      {"softmax",
       "over rows of one element",
       {{3, 1}},
       [](const Inputs& x) { return softmax(x[0]); }},
      {"log_softmax", "over rows", {{2, 3, 5}}, [](const Inputs& x) { return log_softmax(x[0]); }},
      {"masked_softmax",
       "with a length for each sequence",
       {{2, 3, 4}},
       [](const Inputs& x) {
         return masked_softmax(x[0], {.valid_lens = {2, 0}});
       }},
      {"masked_softmax",
       "with a length for each query",
       {{2, 2, 4}},
       [](const Inputs& x) {
         const Tensor<std::int32_t> lengths({2, 2}, {1, 4, 0, 3});
         return masked_softmax(x[0], {.valid_lens = ValidLens(lengths)});
       }},
      {"masked_softmax",
       "causal, with heads",
       {{1, 2, 3, 3}},
       [](const Inputs& x) { return masked_softmax(x[0], {.causal = true}); }},
      {"masked_softmax",
       "with a boolean mask",
       {{2, 2, 3}},
       [](const Inputs& x) {
         const Tensor<bool> allowed({2, 3}, {true, false, true, false, false, false});
         return masked_softmax(x[0], {.allowed = allowed});
       }},
      {"masked_softmax",
       "with lengths and a bias, including -infinity",
       {{2, 2, 3}},
       [](const Inputs& x) {
         constexpr float masked = -std::numeric_limits<float>::infinity();
         const Tensor<float> bias({2, 3}, {0.5F, masked, -1, masked, 2, 0});
         return masked_softmax(x[0], {.valid_lens = {1, 3}, .bias = bias});
       }},
  };
}

const GradientRows registered(rows());

}  // namespace
}  // namespace weft
