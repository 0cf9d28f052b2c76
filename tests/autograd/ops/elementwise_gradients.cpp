#include <weft/autograd/ops/elementwise.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {

std::vector<GradientCase> gradient_cases_elementwise() {
  return {
      {"add", "equal shapes", {{2, 3}, {2, 3}}, [](const Inputs& x) { return x[0] + x[1]; }},
      {"add", "a row on a matrix", {{2, 3}, {3}}, [](const Inputs& x) { return x[0] + x[1]; }},
      {"add", "a scalar", {{2, 3}, {}}, [](const Inputs& x) { return x[1] + x[0]; }},
      {"add",
       "both broadcast",
       {{3, 1, 2, 1}, {4, 1, 5}},
       [](const Inputs& x) { return x[0] + x[1]; }},
      {"add", "x + x", {{2, 3}}, [](const Inputs& x) { return x[0] + x[0]; }},
      {"subtract", "equal shapes", {{2, 3}, {2, 3}}, [](const Inputs& x) { return x[0] - x[1]; }},
      {"subtract", "a column", {{2, 1}, {2, 3}}, [](const Inputs& x) { return x[1] - x[0]; }},
      {"subtract", "middle axes", {{2, 3, 4}, {3, 1}}, [](const Inputs& x) { return x[1] - x[0]; }},
      {"multiply", "equal shapes", {{2, 3}, {2, 3}}, [](const Inputs& x) { return x[0] * x[1]; }},
      {"multiply", "a row", {{2, 2, 3}, {3}}, [](const Inputs& x) { return x[1] * x[0]; }},
      {"multiply",
       "first and last axis",
       {{1, 3, 1}, {2, 3, 4}},
       [](const Inputs& x) { return x[0] * x[1]; }},
      {"multiply", "x x", {{2, 3}}, [](const Inputs& x) { return x[0] * x[0]; }},
      {"divide",
       "equal shapes",
       {{2, 3}, positive({2, 3})},
       [](const Inputs& x) { return x[0] / x[1]; }},
      {"divide",
       "by a column",
       {{2, 3}, away_from_zero({2, 1})},
       [](const Inputs& x) { return x[0] / x[1]; }},
      {"divide",
       "a scalar by a tensor",
       {{}, away_from_zero({2, 3})},
       [](const Inputs& x) { return x[0] / x[1]; }},
      {"scale", "by -2.5", {{2, 3}}, [](const Inputs& x) { return scale(x[0], -2.5); }},
      {"negate", "x", {{2, 3}}, [](const Inputs& x) { return -x[0]; }},
      {"exp", "x", {{2, 3}}, [](const Inputs& x) { return exp(x[0]); }},
      {"log", "x > 0", {positive({2, 3})}, [](const Inputs& x) { return log(x[0]); }},
      {"sqrt", "x > 0", {positive({2, 3})}, [](const Inputs& x) { return sqrt(x[0]); }},
      {"power", "cube", {{2, 3}}, [](const Inputs& x) { return power(x[0], 3.0); }},
      {"power", "x^-1.5", {positive({2, 3})}, [](const Inputs& x) { return power(x[0], -1.5); }},
      {"power", "x^0", {{2, 3}}, [](const Inputs& x) { return power(x[0], 0.0); }},
      {"abs", "away from 0", {away_from_zero({3, 4})}, [](const Inputs& x) { return abs(x[0]); }},
      {"tanh", "x", {{3, 7}}, [](const Inputs& x) { return tanh(x[0]); }},
      {"sigmoid", "x", {{3, 7}}, [](const Inputs& x) { return sigmoid(x[0]); }},
      {"relu", "away from 0", {away_from_zero({3, 7})}, [](const Inputs& x) { return relu(x[0]); }},
      {"gelu", "x", {{3, 7}}, [](const Inputs& x) { return gelu(x[0]); }},
      {"gelu_tanh", "x", {{3, 7}}, [](const Inputs& x) { return gelu_tanh(x[0]); }},
      {"clamp",
       "inside and outside",
       {distinct({3, 4})},
       [](const Inputs& x) { return clamp(x[0], 0.35, 0.95); }},
  };
}

}  // namespace weft
