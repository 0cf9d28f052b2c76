#include <weft/autograd/ops/linear.hpp>
#include <weft/autograd/ops/matmul.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {

namespace {

std::vector<GradientCase> rows() {
  return {
      {"matmul",
       "of two matrices",
       {{3, 4}, {4, 5}},
       [](const Inputs& x) { return matmul(x[0], x[1]); }},
      {"matmul",
       "with a transposed",
       {{4, 3}, {4, 5}},
       [](const Inputs& x) { return matmul(x[0], x[1], {.transpose_a = true}); }},
      {"matmul",
       "with b transposed",
       {{3, 4}, {5, 4}},
       [](const Inputs& x) { return matmul(x[0], x[1], {.transpose_b = true}); }},
      {"matmul",
       "with both transposed",
       {{4, 3}, {5, 4}},
       [](const Inputs& x) {
         return matmul(x[0], x[1], {.transpose_a = true, .transpose_b = true});
       }},
      {"matmul",
       "of a batch",
       {{2, 3, 4}, {2, 4, 5}},
       [](const Inputs& x) { return matmul(x[0], x[1]); }},
      {"matmul",
       "of a batch with both transposed",
       {{2, 2, 4, 3}, {2, 2, 5, 4}},
       [](const Inputs& x) {
         return matmul(x[0], x[1], {.transpose_a = true, .transpose_b = true});
       }},
      {"matmul",
       "of a batch and one matrix",
       {{2, 3, 4}, {4, 5}},
       [](const Inputs& x) { return matmul(x[0], x[1]); }},
      {"matmul",
       "of a transposed batch and one transposed matrix",
       {{2, 4, 3}, {5, 4}},
       [](const Inputs& x) {
         return matmul(x[0], x[1], {.transpose_a = true, .transpose_b = true});
       }},
      {"matmul",
       "of a row and a column",
       {{1, 4}, {4, 1}},
       [](const Inputs& x) { return matmul(x[0], x[1]); }},
      {"matmul",
       "over no inner elements",
       {{2, 0}, {0, 3}},
       [](const Inputs& x) { return matmul(x[0], x[1]); }},
      {"linear",
       "with a bias",
       {{2, 3, 4}, {5, 4}, {5}},
       [](const Inputs& x) { return linear(x[0], x[1], x[2]); }},
      {"linear",
       "without a bias",
       {{3, 4}, {5, 4}},
       [](const Inputs& x) { return linear(x[0], x[1]); }},
      {"linear",
       "of one vector",
       {{4}, {5, 4}, {5}},
       [](const Inputs& x) { return linear(x[0], x[1], x[2]); }},
      {"linear",
       "and gelu",
       {{3, 4}, {5, 4}, {5}},
       [](const Inputs& x) { return linear(x[0], x[1], x[2], Activation::gelu); }},
      {"linear",
       "and gelu's approximation",
       {{3, 4}, {5, 4}, {5}},
       [](const Inputs& x) { return linear(x[0], x[1], x[2], Activation::gelu_tanh); }},
      {"linear",
       "and tanh",
       {{3, 4}, {5, 4}},
       [](const Inputs& x) { return linear(x[0], x[1], Activation::tanh); }},
      {"linear",
       "and sigmoid",
       {{3, 4}, {5, 4}, {5}},
       [](const Inputs& x) { return linear(x[0], x[1], x[2], Activation::sigmoid); }},
      {"linear",
       "and relu, away from its kink",
       {positive({3, 4}), positive({5, 4}), positive({5})},
       [](const Inputs& x) { return linear(x[0], x[1], x[2], Activation::relu); }},
  };
}

const GradientRows registered(rows());

}  // namespace
}  // namespace weft
