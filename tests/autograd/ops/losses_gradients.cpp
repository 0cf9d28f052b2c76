#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/autograd/ops/losses.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {

namespace {

std::vector<GradientCase> rows() {
  return {
      {"cross_entropy",
       "with an ignored target",
       {{2, 2, 4}},
       [](const Inputs& x) {
         return cross_entropy(x[0], Tokens({2, 2}, {3, -100, 0, 3}));
       }},
      {"cross_entropy",
       "with label smoothing",
       {{3, 4}},
       [](const Inputs& x) {
         return cross_entropy(x[0], Tokens({3}, {3, 1, 7}),
                              {.ignore_index = 7, .label_smoothing = 0.1});
       }},
      {"cross_entropy",
       "divided by a given number",
       {{3, 4}},
       [](const Inputs& x) {
         return cross_entropy(x[0], Tokens({3}, {3, 1, 0}), {.divisor = 7.0});
       }},
      {"cross_entropy",
       "with every target ignored",
       {{2, 4}},
       [](const Inputs& x) {
         return cross_entropy(x[0], Tokens({2}, {-100, -100}));
       }},
      {"mse_loss",
       "prediction and target",
       {{2, 3}, {2, 3}},
       [](const Inputs& x) { return mse_loss(x[0], x[1]); }},
      {"binary_cross_entropy_with_logits",
       "hard and soft targets",
       {{2, 3}},
       [](const Inputs& x) {
         return binary_cross_entropy_with_logits(
             x[0], Tensor<double>({2, 3}, {0.0, 1.0, 0.5, 0.25, 0.9, 1.0}));
       }},
  };
}

const GradientRows registered(rows());

}  // namespace
}  // namespace weft
