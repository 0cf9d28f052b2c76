#include <weft/autograd/ops/normalization.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {

namespace {

std::vector<GradientCase> rows() {
  return {
      {"layer_norm",
       "of rows",
       {{2, 3, 5}, {5}, {5}},
       [](const Inputs& x) { return layer_norm(x[0], x[1], x[2]); }},
      {"layer_norm",
       "with a large eps",
       {{4, 3}, {3}, {3}},
       [](const Inputs& x) { return layer_norm(x[0], x[1], x[2], 0.5); }},
      {"layer_norm",
       "of no rows",
       {{0, 3}, {3}, {3}},
       [](const Inputs& x) { return layer_norm(x[0], x[1], x[2]); }},
      {"normalize", "of rows", {{2, 3, 4}}, [](const Inputs& x) { return normalize(x[0]); }},
      {"normalize",
       "of rows of one element",
       {away_from_zero({4, 1})},
       [](const Inputs& x) { return normalize(x[0]); }},
  };
}

const GradientRows registered(rows());

}  // namespace
}  // namespace weft
