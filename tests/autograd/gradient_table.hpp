// The gradient-check table: for each operation declared in autograd/ops/, one row or more.
//
// To add rows, register them in ops/<header>_test.cpp, named after the header that declares the
// operation:
//
//   const GradientRows registered({
//       {"multiply", "a row times a matrix", {{2, 3}, {3}},
//        [](const Inputs& x) { return multiply(x[0], x[1]); }},
//   });
//
// Every row is checked as given, and again with each input used twice.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <weft/autograd/random.hpp>
#include <weft/autograd/tape.hpp>

namespace weft {

using Inputs = std::vector<Var<double>>;

// The values of an input of a row: given, or a shape of random numbers, standard normal by default,
// drawn when the row is checked.
struct InputValues {
  using Draw = std::function<Tensor<double>(Random& random)>;

  InputValues(std::initializer_list<Index> sizes);
  InputValues(Tensor<double> given);
  explicit InputValues(Draw draw_values) : draw(std::move(draw_values)) {}

  Draw draw;
};

// Inputs for functions that are not differentiable everywhere.
// Uniform in 0.5 … 2.
InputValues positive(Shape shape);
// Uniform in ±(0.2 … 1.2).
InputValues away_from_zero(Shape shape);
// 0.1, 0.2, 0.3, … in random order.
InputValues distinct(Shape shape);

struct GradientCase {
  std::string operation;    // its name in the header
  std::string description;  // what the row tests
  std::vector<InputValues> inputs;
  // Computes the result from the inputs, on a tape in training mode, x[0].tape().
  std::function<Var<double>(const Inputs& x)> function;
};

// Adds rows to the table, as an object of namespace scope in a file of its own.
struct GradientRows {
  explicit GradientRows(std::vector<GradientCase> rows);
};

// All rows.
const std::vector<GradientCase>& gradient_table();

}  // namespace weft
