// Rows of rows.h5: comparisons that name the PyTorch expression which they compare with. After
// adding one, run write_rows.py, which finds these calls in the tests.
#pragma once

#include <cctype>
#include <string>
#include <vector>

#include <weft/autograd/ops/linear.hpp>
#include <weft/autograd/ops/losses.hpp>
#include <weft/layers/dropout.hpp>
#include <weft/layers/linear.hpp>
#include <weft/train/optim/schedule.hpp>
#include "tests/golden/comparison.hpp"
#include "tests/golden/layer_case.hpp"

namespace weft::golden {

// The name of a row's group: the expression with '_' for everything but letters and digits.
inline std::string row_name(const std::string& expression) {
  std::string name;
  for (const char c : expression)
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  if (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

// Compares output and all gradients of call(x), x being variables of the shapes given, with those
// of the module that `expression` constructs, whose weights the layer loads.
template <class T, class Layer, class Call>
void compare_with_torch(const std::string& expression, const std::vector<Shape>& shapes,
                        Layer& layer, const Call& call) {
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i) inputs.push_back(std::to_string(i));
  LayerCase<T>(row_name(expression), "rows.h5").check(layer, inputs, [&](auto&, const auto& x) {
    for (std::size_t i = 0; i < shapes.size(); ++i) CHECK(x[i].shape() == shapes[i]);
    return call(x);
  });
}

// The same for a function without weights.
template <class T, class Call>
void compare_with_torch(const std::string& expression, const std::vector<Shape>& shapes,
                        const Call& call) {
  Dropout<T> nothing(0.0);
  compare_with_torch<T>(expression, shapes, nothing, call);
}

// Compares a linear model after each step of make(model) with PyTorch's. In `expression`,
// `parameters` are the model's.
template <class T, class Make>
void compare_with_torch_optimizer(const std::string& expression, const Make& make) {
  const std::string group = str_cat('/', row_name(expression), '/');
  const Hdf5File file(WEFT_TEST_DATA "/rows.h5");
  Random random(1);
  Linear<T> model({.in_features = 3, .out_features = 2}, random);
  (void)load_weights(file.path(), model, {.group = group + "start"});
  auto optimizer = make(model);
  const Tensor<T> x = file.tensor<T>(group + "x"), target = file.tensor<T>(group + "target");
  const Tensor<double> weights = file.tensor<double>(group + "steps/weight");
  const Tensor<double> biases = file.tensor<double>(group + "steps/bias");
  const auto row_of = [](const Tensor<double>& steps, Index step) {
    const Shape shape = steps.shape().without(0);
    const auto size = static_cast<std::size_t>(shape.elements());
    return Tensor<double>(shape,
                          steps.values().subspan(static_cast<std::size_t>(step) * size, size));
  };
  Tape<T> tape({.training = true});
  for (Index step = 0; step < weights.shape()[0]; ++step) {
    tape.backward(mse_loss(model(tape.constant(x)), tape.constant(target)));
    optimizer.step();
    check(str_cat(expression, " step ", step, " weight"), model.weight.value(),
          row_of(weights, step));
    check(str_cat(expression, " step ", step, " bias"), model.bias->value(), row_of(biases, step));
  }
}

// Compares the learning rates of a schedule with those of a scheduler, which `expression` makes.
inline void compare_with_torch_schedule(const std::string& expression, const Schedule& schedule) {
  const Hdf5File file(WEFT_TEST_DATA "/rows.h5");
  const auto expected = file.tensor<double>(str_cat(row_name(expression), "/learning_rates"));
  Tensor<double> actual(expected.shape());
  for (Index i = 0; i < actual.size(); ++i) actual(i) = schedule(i + 1);
  check(expression, actual, expected);
}

}  // namespace weft::golden
