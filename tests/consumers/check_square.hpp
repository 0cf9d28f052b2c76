// The gradient check of square.
#pragma once

#include <iostream>

#include <weft/autograd.hpp>
#include "square.hpp"

inline bool square_has_correct_gradients() {
  Random random(1);
  Parameter<double> x(random.normal_tensor<double>({4, 3}));
  const GradCheckReport report =
      gradcheck([&](Tape<double>& tape) { return square(tape.parameter(x)); }, {{"x", &x}});
  std::cout << report;
  return report.passed();
}
