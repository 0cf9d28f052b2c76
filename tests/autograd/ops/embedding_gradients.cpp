#include <weft/autograd/ops/embedding.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {

namespace {

std::vector<GradientCase> rows() {
  return {
      {"embedding",
       "with repeated tokens and unused rows",
       {{5, 3}},
       [](const Inputs& x) {
         return embedding(Tokens({2, 3}, {4, 0, 4, 4, 2, 0}), x[0]);
       }},
      {"embedding",
       "of a scalar token",
       {{3, 2}},
       [](const Inputs& x) { return embedding(Tokens(Shape{}, {1}), x[0]); }},
  };
}

const GradientRows registered(rows());

}  // namespace
}  // namespace weft
