#include <weft/autograd/ops/reductions.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {

namespace {

std::vector<GradientCase> rows() {
  return {
      {"sum", "all elements", {{2, 3}}, [](const Inputs& x) { return sum(x[0]); }},
      {"sum", "the last axis", {{3, 4}}, [](const Inputs& x) { return sum(x[0], {-1}); }},
      {"sum", "an axis in the middle", {{2, 3, 2}}, [](const Inputs& x) { return sum(x[0], {1}); }},
      {"sum",
       "the first and the last axis",
       {{2, 3, 4}},
       [](const Inputs& x) {
         return sum(x[0], {2, 0});
       }},
      {"sum",
       "with kept axes",
       {{2, 3, 2}},
       [](const Inputs& x) {
         return sum(x[0], {0, 1}, true);
       }},

      {"mean", "all elements", {{5}}, [](const Inputs& x) { return mean(x[0]); }},
      {"mean", "the first axis", {{3, 4}}, [](const Inputs& x) { return mean(x[0], {0}); }},
      {"mean",
       "every other axis",
       {{2, 3, 2, 2}},
       [](const Inputs& x) {
         return mean(x[0], {0, 2}, true);
       }},

      {"max", "all elements", {distinct({7})}, [](const Inputs& x) { return max(x[0]); }},
      {"max", "the last axis", {distinct({3, 4})}, [](const Inputs& x) { return max(x[0], {1}); }},
      {"max", "the first axis", {distinct({3, 4})}, [](const Inputs& x) { return max(x[0], {0}); }},
      {"max",
       "the first and the last axis",
       {distinct({2, 3, 2})},
       [](const Inputs& x) {
         return max(x[0], {0, 2}, true);
       }},

      {"variance", "all elements", {{6}}, [](const Inputs& x) { return variance(x[0]); }},
      {"variance",
       "the last axis, divided by n",
       {{3, 4}},
       [](const Inputs& x) { return variance(x[0], {-1}, 0); }},
      {"variance", "the first axis", {{3, 4}}, [](const Inputs& x) { return variance(x[0], {0}); }},
      {"variance",
       "the first and the last axis",
       {{2, 3, 2}},
       [](const Inputs& x) {
         return variance(x[0], {0, 2}, 1, true);
       }},
  };
}

const GradientRows registered(rows());

}  // namespace
}  // namespace weft
