// Clipping and optimizers at the size of several ranges, against their formulas in plain loops.
#include <cmath>
#include <functional>

#include <weft/autograd/random.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/optim/clip.hpp>
#include <weft/train/optim/rmsprop.hpp>
#include <weft/train/optim/sgd.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/train/affine.hpp"

using namespace weft;

namespace {

// Ranges of 16384 elements end within both parameters.
const Shape weight_shape{170, 200}, bias_shape{22'001};

Affine<double> random_model() {
  Affine<double> model(weight_shape, bias_shape);
  Random random(1);
  model.weight = Parameter<double>(random.normal_tensor<double>(weight_shape));
  model.bias = Parameter<double>(random.normal_tensor<double>(bias_shape));
  return model;
}

// What a formula works on: one element, and what it remembers of earlier steps.
struct Element {
  double value;
  double gradient;  // clipped
  double first = 0.0, second = 0.0;
};

// Steps of the optimizer with clipped gradients, and of `formula(element, step, is_matrix)`.
void check_steps(Affine<double>& model, Optimizer<double>& optimizer,
                 const std::function<void(Element&, double, bool)>& formula) {
  Random random(3);
  std::vector<Element> elements;
  for (const Parameter<double>* parameter : {&model.weight, &model.bias})
    for (const double value : parameter->value()) elements.push_back({value, 0.0});
  const auto matrix_size = static_cast<std::size_t>(model.weight.size());
  for (int step = 1; step <= 3; ++step) {
    double squares = 0.0;
    std::size_t i = 0;
    for (Parameter<double>* parameter : {&model.weight, &model.bias}) {
      const auto gradient = random.normal_tensor<double>(parameter->shape());
      parameter->set_grad(gradient);
      for (const double g : gradient) {
        elements[i++].gradient = g;
        squares += g * g;
      }
    }
    const double norm = std::sqrt(squares), max_norm = 0.5 * norm;
    CHECK(std::abs(optimizer.grad_norm() - norm) < 1e-9 * norm);
    optimizer.step(clip_factor(norm, max_norm));
    for (i = 0; i < elements.size(); ++i) {
      elements[i].gradient *= max_norm / (norm + 1e-6);
      formula(elements[i], step, i < matrix_size);
    }
    Tensor<double> weight(weight_shape), bias(bias_shape);
    for (i = 0; i < matrix_size; ++i) weight.data()[i] = elements[i].value;
    for (; i < elements.size(); ++i) bias.data()[i - matrix_size] = elements[i].value;
    INFO("step " << step);
    CHECK(distance(model.weight.value(), weight) < 1e-12);
    CHECK(distance(model.bias.value(), bias) < 1e-12);
  }
}

// Adam's step for an element, given the gradient to use.
double adam_step(Element& e, double g, double step, double lr) {
  constexpr double beta1 = 0.8, beta2 = 0.9, eps = 1e-6;
  e.first = beta1 * e.first + (1.0 - beta1) * g;
  e.second = beta2 * e.second + (1.0 - beta2) * g * g;
  const double mean = e.first / (1.0 - std::pow(beta1, step));
  return lr * mean / (std::sqrt(e.second / (1.0 - std::pow(beta2, step))) + eps);
}

}  // namespace

TEST_CASE("SGD: clipped gradients and weight decay over several ranges", "[train]") {
  Affine<double> model = random_model();
  SGD optimizer(model, {.lr = 0.1, .weight_decay = 0.3});
  check_steps(model, optimizer,
              [](Element& e, double, bool) { e.value -= 0.1 * (e.gradient + 0.3 * e.value); });
}

TEST_CASE("SGD: clipping, weight decay and momentum over several ranges", "[train]") {
  for (const bool nesterov : {false, true}) {
    Affine<double> model = random_model();
    SGD optimizer(model, {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.3, .nesterov = nesterov});
    check_steps(model, optimizer, [nesterov](Element& e, double, bool) {
      const double g = e.gradient + 0.3 * e.value;
      e.first = 0.9 * e.first + g;
      e.value -= 0.1 * (nesterov ? g + 0.9 * e.first : e.first);
    });
  }
}

TEST_CASE("Adam: clipped gradients and weight decay over several ranges", "[train]") {
  Affine<double> model = random_model();
  Adam optimizer(model, {.lr = 0.1, .beta1 = 0.8, .beta2 = 0.9, .eps = 1e-6, .weight_decay = 0.3});
  check_steps(model, optimizer, [](Element& e, double step, bool) {
    e.value -= adam_step(e, e.gradient + 0.3 * e.value, step, 0.1);
  });
}

TEST_CASE("AdamW: clipped gradients and decay of matrices over several ranges", "[train]") {
  Affine<double> model = random_model();
  AdamW optimizer(model, {.lr = 0.1, .beta1 = 0.8, .beta2 = 0.9, .eps = 1e-6, .weight_decay = 0.3});
  check_steps(model, optimizer, [](Element& e, double step, bool is_matrix) {
    if (is_matrix) e.value *= 1.0 - 0.1 * 0.3;
    e.value -= adam_step(e, e.gradient, step, 0.1);
  });
}

TEST_CASE("RMSprop: clipping, weight decay and momentum over several ranges", "[train]") {
  for (const double momentum : {0.0, 0.9}) {
    Affine<double> model = random_model();
    RMSprop optimizer(
        model, {.lr = 0.01, .alpha = 0.8, .eps = 1e-4, .weight_decay = 0.3, .momentum = momentum});
    check_steps(model, optimizer, [momentum](Element& e, double, bool) {
      const double g = e.gradient + 0.3 * e.value;
      e.second = 0.8 * e.second + 0.2 * g * g;
      e.first = momentum * e.first + g / (std::sqrt(e.second) + 1e-4);
      e.value -= 0.01 * e.first;
    });
  }
}

TEST_CASE("clipping: every element of several ranges is scaled", "[train]") {
  Affine<double> model = random_model();
  Random random(2);
  const auto weight = random.normal_tensor<double>(weight_shape);
  const auto bias = random.normal_tensor<double>(bias_shape);
  model.weight.set_grad(weight);
  model.bias.set_grad(bias);
  double squares = 0.0;
  for (const Tensor<double>& gradient : {weight, bias})
    for (const double g : gradient) squares += g * g;
  const double norm = std::sqrt(squares);
  CHECK(std::abs(clip_grad_norm(model, 2.0) - norm) < 1e-9 * norm);
  const auto scaled = [&](const Tensor<double>& gradient) {
    Tensor<double> result = gradient.clone();
    for (double& g : result) g *= 2.0 / (norm + 1e-6);
    return result;
  };
  CHECK(distance(model.weight.grad(), scaled(weight)) < 1e-12);
  CHECK(distance(model.bias.grad(), scaled(bias)) < 1e-12);
}
