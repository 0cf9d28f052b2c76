#include <weft/autograd/ops/permute.hpp>
#include <weft/autograd/ops/shaping.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {

namespace {

std::vector<GradientCase> rows() {
  return {
      {"reshape",
       "with an inferred size",
       {{2, 6}},
       [](const Inputs& x) {
         return reshape(x[0], {3, -1});
       }},
      {"reshape",
       "from a scalar",
       {InputValues({})},
       [](const Inputs& x) {
         return reshape(x[0], Shape{1, 1});
       }},

      {"permute",
       "the heads of attention: the last axis stays",
       {{2, 3, 2, 4}},
       [](const Inputs& x) {
         return permute(x[0], {0, 2, 1, 3});
       }},
      {"permute",
       "the last axis to the front",
       {{2, 3, 5}},
       [](const Inputs& x) {
         return permute(x[0], {-1, 0, 1});
       }},
      {"permute",
       "all axes reversed",
       {{2, 3, 1, 4, 2}},
       [](const Inputs& x) {
         return permute(x[0], {4, 3, 2, 1, 0});
       }},
      {"permute",
       "the identity",
       {{2, 3}},
       [](const Inputs& x) {
         return permute(x[0], {0, 1});
       }},
      {"transpose",
       "a matrix of squares and a remainder",
       {{9, 6}},
       [](const Inputs& x) { return transpose(x[0]); }},
      {"transpose",
       "the first and the last of three axes",
       {{2, 3, 4}},
       [](const Inputs& x) { return transpose(x[0], 0, 2); }},

      {"slice",
       "an axis in the middle",
       {{2, 5, 3}},
       [](const Inputs& x) { return slice(x[0], 1, 1, 4); }},
      {"slice", "the last axis", {{3, 4}}, [](const Inputs& x) { return slice(x[0], -1, 2, 3); }},

      {"concatenate",
       "along the first axis",
       {{2, 3}, {1, 3}},
       [](const Inputs& x) { return concatenate(x, 0); }},
      {"concatenate",
       "along the last axis, with an empty tensor",
       {{2, 3}, {2, 0}, {2, 2}},
       [](const Inputs& x) { return concatenate(x, -1); }},
      {"concatenate",
       "with a constant",
       {{2, 3}, {2, 1}},
       [](const Inputs& x) {
         const auto constant = x[0].tape().constant(Tensor<double>::full({2, 2}, 0.5));
         return concatenate(Inputs{x[0], constant, x[1]}, 1);
       }},
      {"stack",
       "along a new first axis",
       {{2, 3}, {2, 3}},
       [](const Inputs& x) { return stack(x, 0); }},
      {"stack",
       "along a new last axis",
       {{2, 3}, {2, 3}, {2, 3}},
       [](const Inputs& x) { return stack(x, -1); }},

      {"repeat",
       "an axis in the middle",
       {{2, 3, 2}},
       [](const Inputs& x) { return repeat(x[0], 1, 3); }},
      {"repeat", "the last axis", {{2, 3}}, [](const Inputs& x) { return repeat(x[0], -1, 2); }},
      {"repeat", "zero times", {{2, 3}}, [](const Inputs& x) { return repeat(x[0], 0, 0); }},
  };
}

const GradientRows registered(rows());

}  // namespace
}  // namespace weft
