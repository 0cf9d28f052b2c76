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

std::vector<GradientCase> gradient_table() {
  std::vector<GradientCase> all;
  for (const auto cases :
       {gradient_cases_attention, gradient_cases_dropout, gradient_cases_elementwise,
        gradient_cases_embedding, gradient_cases_mask_rows, gradient_cases_losses,
        gradient_cases_matmul, gradient_cases_normalization, gradient_cases_recompute,
        gradient_cases_recurrence, gradient_cases_reductions, gradient_cases_rotary_embedding,
        gradient_cases_shaping, gradient_cases_softmax, gradient_cases_unfold}) {
    std::vector<GradientCase> rows = cases();
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace weft
