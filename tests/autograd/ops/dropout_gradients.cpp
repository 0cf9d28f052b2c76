#include <weft/autograd/ops/dropout.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {

namespace {

std::vector<GradientCase> rows() {
  return {
      {"dropout", "of a half", {{5, 7}}, [](const Inputs& x) { return dropout(x[0], 0.5); }},
      {"dropout", "of nothing", {{2, 3}}, [](const Inputs& x) { return dropout(x[0], 0.0); }},
      {"dropout", "of everything", {{2, 3}}, [](const Inputs& x) { return dropout(x[0], 1.0); }},
  };
}

const GradientRows registered(rows());

}  // namespace
}  // namespace weft
