// The gradient-check table: for each operation declared in autograd/, one row or more.
//
// To add rows, write them into gradient_cases_<header>.cpp, named after the header that declares
// the operation; each such file is one function that returns its rows. A new file is declared here
// and listed once in gradient_table.cpp. A row reads:
//
//   {"multiply", "a row times a matrix", {{2, 3}, {3}},
//    [](const Inputs& x) { return multiply(x[0], x[1]); }},
//
// Every row is checked as it stands, and again with each input used twice, so no row needs that.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <weft/autograd/random.hpp>
#include <weft/autograd/tape.hpp>

namespace weft {

using Inputs = std::vector<Var<double>>;

// What an input of a row holds: given values, or a shape of numbers drawn when the row is checked,
// standard normal unless said.
struct InputValues {
  using Draw = std::function<Tensor<double>(Random& random)>;

  InputValues(std::initializer_list<Index> sizes);
  InputValues(Tensor<double> given);
  explicit InputValues(Draw draw_values) : draw(std::move(draw_values)) {}

  Draw draw;
};

// Numbers for functions that finite differences cannot be taken of everywhere.
// Within 0.5 … 2.
InputValues positive(Shape shape);
// Within ±(0.2 … 1.2).
InputValues away_from_zero(Shape shape);
// 0.1, 0.2, 0.3, … in random order.
InputValues distinct(Shape shape);

struct GradientCase {
  std::string operation;  // as the header declares it
  std::string sentence;   // what the row is about
  std::vector<InputValues> inputs;
  // Computes the result from the inputs; the tape, which trains, is x[0].tape().
  std::function<Var<double>(const Inputs& x)> function;
};

// The rows of each file.
std::vector<GradientCase> gradient_cases_attention();
std::vector<GradientCase> gradient_cases_dropout();
std::vector<GradientCase> gradient_cases_elementwise();
std::vector<GradientCase> gradient_cases_embedding();
std::vector<GradientCase> gradient_cases_mask_rows();
std::vector<GradientCase> gradient_cases_losses();
std::vector<GradientCase> gradient_cases_matmul();
std::vector<GradientCase> gradient_cases_normalization();
std::vector<GradientCase> gradient_cases_recompute();
std::vector<GradientCase> gradient_cases_recurrence();
std::vector<GradientCase> gradient_cases_reductions();
std::vector<GradientCase> gradient_cases_rotary_embedding();
std::vector<GradientCase> gradient_cases_shaping();
std::vector<GradientCase> gradient_cases_softmax();
std::vector<GradientCase> gradient_cases_unfold();

// All rows.
std::vector<GradientCase> gradient_table();

}  // namespace weft
