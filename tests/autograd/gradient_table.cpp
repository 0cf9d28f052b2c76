#include "tests/autograd/gradient_table.hpp"

#include <iterator>

namespace weft {

InputValues::InputValues(std::initializer_list<Index> sizes)
    : draw([shape = Shape(sizes)](Random& random) { return random.normal_tensor<double>(shape); }) {
}

InputValues::InputValues(Tensor<double> given)
    : draw([values = std::move(given)](Random&) { return values.clone(); }) {}

InputValues positive(Shape shape) {
  return InputValues(
      [shape](Random& random) { return random.uniform_tensor<double>(shape, 0.5, 2.0); });
}

InputValues away_from_zero(Shape shape) {
  return InputValues([shape](Random& random) {
    Tensor<double> values = random.uniform_tensor<double>(shape, -1.0, 1.0);
    for (double& value : values) value += value < 0 ? -0.2 : 0.2;
    return values;
  });
}

InputValues distinct(Shape shape) {
  return InputValues([shape](Random& random) {
    Tensor<double> values(shape);
    double next = 0.0;
    for (double& value : values) value = next += 0.1;
    std::span<double> order = values.values();
    random.shuffle(order);
    return values;
  });
}

namespace {

std::vector<GradientCase>& registered_rows() {
  static std::vector<GradientCase> rows;
  return rows;
}

}  // namespace

GradientRows::GradientRows(std::vector<GradientCase> rows) {
  std::move(rows.begin(), rows.end(), std::back_inserter(registered_rows()));
}

const std::vector<GradientCase>& gradient_table() { return registered_rows(); }

}  // namespace weft
