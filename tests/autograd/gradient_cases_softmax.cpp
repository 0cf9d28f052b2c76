#include "autograd/softmax.hpp"

#include "tests/autograd/gradient_table.hpp"

namespace weft {

std::vector<GradientCase> gradient_cases_softmax() {
  return {
      {"softmax", "over rows", {{2, 3, 5}}, [](const Inputs& x) { return softmax(x[0]); }},
      {"softmax", "over rows of one", {{3, 1}}, [](const Inputs& x) { return softmax(x[0]); }},
      {"log_softmax", "over rows", {{2, 3, 5}}, [](const Inputs& x) { return log_softmax(x[0]); }},
  };
}

}  // namespace weft
