#include <weft/autograd/ops/embedding.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {

namespace {

std::vector<GradientCase> rows() {
  return {
      {"embedding",
       "tokens more than once, and rows that none has",
       {{5, 3}},
       [](const Inputs& x) {
         return embedding(Tokens({2, 3}, {4, 0, 4, 4, 2, 0}), x[0]);
       }},
      {"embedding",
       "one token without axes",
       {{3, 2}},
       [](const Inputs& x) { return embedding(Tokens(Shape{}, {1}), x[0]); }},
  };
}

const GradientRows registered(rows());

}  // namespace
}  // namespace weft
