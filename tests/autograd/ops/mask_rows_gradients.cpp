#include <weft/autograd/ops/mask_rows.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {

namespace {

std::vector<GradientCase> rows() {
  return {
      {"mask_rows",
       "of a batch of matrices",
       {{2, 3, 2}},
       [](const Inputs& x) {
         return mask_rows(x[0], Tensor<bool>({2, 3}, {true, false, true, false, false, true}));
       }},
  };
}

const GradientRows registered(rows());

}  // namespace
}  // namespace weft
