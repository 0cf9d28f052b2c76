// The gradient-check table: for each operation declared in autograd/ops/, one row or more.
//
// To add rows, register them in ops/<header>_test.cpp, named after the header that declares the
// operation:
//
//   const GradientRows registered({
//       {"multiply", "a row times a matrix", {{2, 3}, {3}}, {{200, 250}, {250}},
//        [](const auto& x) { return multiply(x[0], x[1]); }},
//   });
//
// Every row is checked with the small inputs, element by element, and again with each input used
// twice; and along directions with the large ones, which make at least three ranges of each kernel
// that the operation runs in parallel, so that a mistake beyond the first range is seen. Both with
// each input constant in turn; the large ones also in float.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <weft/autograd/ops/embedding.hpp>
#include <weft/autograd/ops/mask.hpp>
#include <weft/autograd/random.hpp>
#include <weft/autograd/tape.hpp>

namespace weft {

template <class T>
using Variables = std::vector<Var<T>>;
using Inputs = Variables<double>;

// The values of an input of a row: given, or a shape of random numbers, standard normal by default,
// drawn when the row is checked.
struct InputValues {
  using Draw = std::function<Tensor<double>(Random& random)>;

  InputValues(std::initializer_list<Index> sizes);
  InputValues(Tensor<double> given);
  explicit InputValues(Draw draw_values) : draw(std::move(draw_values)) {}

  Draw draw;
};

// Normal, with a standard deviation.
InputValues normal(Shape shape, double standard_deviation);

// Inputs for functions that are not differentiable everywhere.
// Uniform in 0.5 … 2.
InputValues positive(Shape shape);
// Uniform in ±(0.2 … 1.2).
InputValues away_from_zero(Shape shape);
// 0.1, 0.2, 0.3, … in random order.
InputValues distinct(Shape shape);
// Each -1 or 1.
InputValues signs(Shape shape);
// Each one of 0.1, 0.2, … 1.3.
InputValues tenths(Shape shape);

// Arguments that are no Vars, for a row's shapes; always the same for one shape.
// Tokens of 0 … limit - 1.
Tokens random_tokens(const Shape& shape, Index limit);
// Lengths of 0 … limit, the second of them 0: [batch], or [batch, queries].
ValidLens random_lengths(const Shape& shape, Index limit);
// A mask [..., queries, keys] that hides about a third of the keys, and all from the second query,
// but not the last from the last of several.
Tensor<bool> random_allowed(const Shape& shape);
// A bias, -infinity where a mask random_allowed hides.
Tensor<float> random_bias(const Shape& shape);

struct GradientCase {
  template <class Function>
  GradientCase(std::string operation_name, std::string tested,
               std::vector<InputValues> small_inputs, std::vector<InputValues> large_inputs,
               const Function& of_inputs)
      : operation(std::move(operation_name)),
        description(std::move(tested)),
        small(std::move(small_inputs)),
        large(std::move(large_inputs)),
        function(of_inputs),
        float_function(of_inputs) {}

  std::string operation;    // its name in the header
  std::string description;  // what the row tests
  std::vector<InputValues> small, large;
  // Computes the result from the inputs, on a tape in training mode, x[0].tape().
  std::function<Var<double>(const Variables<double>& x)> function;
  std::function<Var<float>(const Variables<float>& x)> float_function;
};

// Adds rows to the table, as an object of namespace scope in a file of its own.
struct GradientRows {
  explicit GradientRows(std::vector<GradientCase> rows);
};

// All rows.
const std::vector<GradientCase>& gradient_table();

}  // namespace weft
