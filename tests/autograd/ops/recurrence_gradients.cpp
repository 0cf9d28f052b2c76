#include <weft/autograd/ops/recurrence.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {

namespace {

std::vector<GradientCase> rows() {
  return {
      {"tanh_recurrence",
       "of two sequences",
       {{2, 4, 3}, {3, 3}, {3}, {2, 3}},
       [](const Inputs& x) { return tanh_recurrence(x[0], x[1], x[2], x[3]); }},
      {"tanh_recurrence",
       "with lengths, one of them 0, over two ranges of sequences",
       {{10, 3, 2}, {2, 2}, {2}, {10, 2}},
       [](const Inputs& x) {
         return tanh_recurrence(x[0], x[1], x[2], x[3], {1, 3, 2, 0, 2, 3, 1, 1, 2, 1});
       }},
      {"gru_recurrence",
       "of two sequences",
       {{2, 4, 9}, {9, 3}, {9}, {2, 3}},
       [](const Inputs& x) { return gru_recurrence(x[0], x[1], x[2], x[3]); }},
      {"gru_recurrence",
       "with lengths, one of them 0, over two ranges of sequences",
       {{10, 3, 6}, {6, 2}, {6}, {10, 2}},
       [](const Inputs& x) {
         return gru_recurrence(x[0], x[1], x[2], x[3], {1, 3, 2, 0, 2, 3, 1, 1, 2, 1});
       }},
      {"last_states",
       "of whole sequences",
       {{2, 3, 2}, {2, 2}},
       [](const Inputs& x) { return last_states(x[0], x[1]); }},
      {"last_states",
       "with lengths, one of them 0",
       {{3, 4, 2}, {3, 2}},
       [](const Inputs& x) {
         return last_states(x[0], x[1], {2, 0, 4});
       }},
  };
}

const GradientRows registered(rows());

}  // namespace
}  // namespace weft
