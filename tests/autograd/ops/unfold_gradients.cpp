#include <weft/autograd/ops/unfold.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {

namespace {

std::vector<GradientCase> rows() {
  return {
      {"unfold",
       "with overlapping windows",
       {{2, 5, 3}},
       [](const Inputs& x) { return unfold(x[0], {.size = 3}); }},
      {"unfold",
       "with padding, dilation, stride and unused positions",
       {{2, 10, 2}},
       [](const Inputs& x) {
         return unfold(x[0], {.size = 2, .dilation = 2, .stride = 4, .before = 1, .after = 2});
       }},
      {"unfold",
       "with lengths, one of them 0",
       {{3, 4, 2}},
       [](const Inputs& x) {
         return unfold(x[0], {.size = 3, .before = 2}, {3, 0, 4});
       }},
  };
}

const GradientRows registered(rows());

}  // namespace
}  // namespace weft
