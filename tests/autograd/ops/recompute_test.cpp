#include <weft/autograd/ops/activation.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/dropout.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/matmul.hpp>
#include <weft/autograd/ops/recompute.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"recompute",
       "a part of several operations, with dropout",
       {{3, 4}},
       {{200, 250}},
       [](const auto& x) {
         const auto before = dropout(x[0], 0.3);
         const auto part = [](const auto& y) { return tanh(dropout(y, 0.3) * y); };
         return dropout(recompute(part, before), 0.3);
       }},
      {"recompute",
       "two inputs, with nested parts",
       {{3, 4}, {4, 2}},
       {{200, 110}, normal({110, 144}, 0.1)},
       [](const auto& x) {
         return recompute(
             [](const auto& a, const auto& b) {
               const auto inner = [](const auto& y) { return exp(y) * y; };
               return matmul(recompute(inner, a), b);
             },
             x[0], x[1]);
       }},
  };
}

const GradientRows registered(gradient_rows());

}  // namespace
}  // namespace weft
