#include <weft/autograd/ops/rotary_embedding.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {

namespace {

std::vector<GradientCase> rows() {
  return {
      {"rotary_embedding",
       "of two heads, with interleaved pairs",
       {{2, 3, 8}},
       [](const Inputs& x) { return rotary_embedding(x[0], 2); }},
      {"rotary_embedding",
       "of two heads, with paired halves, from a later position on",
       {{2, 3, 8}},
       [](const Inputs& x) {
         return rotary_embedding(
             x[0], 2, {.base = 100.0, .pairs = RotaryPairs::halves, .first_position = 5});
       }},
  };
}

const GradientRows registered(rows());

}  // namespace
}  // namespace weft
