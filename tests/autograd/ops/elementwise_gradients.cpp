#include <weft/autograd/ops/activation.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include "tests/autograd/gradient_table.hpp"

namespace weft {

namespace {

std::vector<GradientCase> rows() {
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
      {"clamp",
       "inside and outside",
       {distinct({3, 4})},
       [](const Inputs& x) { return clamp(x[0], 0.35, 0.95); }},
  };
}

// Each activation under its own name, away from 0, where some have a kink.
std::vector<GradientCase> activation_rows() {
  std::vector<GradientCase> rows;
  for (const auto& [activation, name] : activation_names) {
    const auto apply = [activation = activation](const Inputs& x) {
      return activate(x[0], activation);
    };
    const std::string operation = activation == Activation::none ? "activate" : name;
    rows.push_back({operation, "away from 0", {away_from_zero({3, 7})}, apply});
  }
  return rows;
}

const GradientRows registered(rows()), registered_activations(activation_rows());

}  // namespace
}  // namespace weft
