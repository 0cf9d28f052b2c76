#include <weft/autograd/ops/dropout.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {

namespace {

std::vector<GradientCase> rows() {
  return {
      {"dropout", "with p = 0.5", {{5, 7}}, [](const Inputs& x) { return dropout(x[0], 0.5); }},
      {"dropout", "with p = 0", {{2, 3}}, [](const Inputs& x) { return dropout(x[0], 0.0); }},
      {"dropout", "with p = 1", {{2, 3}}, [](const Inputs& x) { return dropout(x[0], 1.0); }},
  };
}

const GradientRows registered(rows());

}  // namespace
}  // namespace weft
