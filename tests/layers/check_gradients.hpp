// check_gradients: a layer's gradients against central differences.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include <weft/autograd/gradcheck.hpp>
#include <weft/autograd/random.hpp>
#include <weft/layers/module.hpp>
#include "tests/catch.hpp"
#include "tests/tight_bound.hpp"

namespace weft {

using Vars = std::vector<Var<double>>;

// Checks the gradients of `call`, given one variable per input, on a training tape.
template <class Call>
void check_gradients(Module<double>& layer, std::initializer_list<Shape> inputs, const Call& call) {
  Random random(7);
  std::vector<Parameter<double>> values;
  for (const Shape& shape : inputs) values.emplace_back(random.normal_tensor<double>(shape));
  NamedParameters<double> checked = named_parameters(layer);
  for (Parameter<double>& value : values)
    checked.push_back({"input " + std::to_string(&value - values.data()), &value});

  const GradCheckReport report = gradcheck(
      [&](Tape<double>& tape) {
        Vars variables;
        for (Parameter<double>& value : values) variables.push_back(tape.parameter(value));
        return call(tape, variables);
      },
      checked, tight_bound);
  INFO(report);
  CHECK(report.passed());
  CHECK(report.checked() > 0);
}

}  // namespace weft
