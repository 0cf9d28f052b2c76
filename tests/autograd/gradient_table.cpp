#include "tests/autograd/gradient_table.hpp"

#include <iterator>
#include <limits>

namespace weft {

InputValues::InputValues(std::initializer_list<Index> sizes)
    : draw([shape = Shape(sizes)](Random& random) { return random.normal_tensor<double>(shape); }) {
}

InputValues::InputValues(Tensor<double> given)
    : draw([values = std::move(given)](Random&) { return values.clone(); }) {}

InputValues normal(Shape shape, double standard_deviation) {
  return InputValues(
      [=](Random& random) { return random.normal_tensor<double>(shape, 0.0, standard_deviation); });
}

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

InputValues signs(Shape shape) {
  return InputValues([shape](Random& random) {
    Tensor<double> values(shape);
    for (double& value : values) value = random.below(2) == 0 ? -1.0 : 1.0;
    return values;
  });
}

InputValues tenths(Shape shape) {
  return InputValues([shape](Random& random) {
    Tensor<double> values(shape);
    for (double& value : values) value = 0.1 * static_cast<double>(1 + random.below(13));
    return values;
  });
}

Tokens random_tokens(const Shape& shape, Index limit) {
  Random random(31);
  Tokens tokens(shape);
  for (TokenId& token : tokens) token = static_cast<TokenId>(random.below(limit));
  return tokens;
}

ValidLens random_lengths(const Shape& shape, Index limit) {
  Random random(32);
  Tensor<std::int32_t> lengths(shape);
  for (std::int32_t& length : lengths) length = static_cast<std::int32_t>(random.below(limit + 1));
  if (lengths.size() > 1) lengths.data()[1] = 0;
  return ValidLens(lengths);
}

Tensor<bool> random_allowed(const Shape& shape) {
  Random random(33);
  Tensor<bool> allowed(shape);
  for (bool& key : allowed) key = random.below(3) > 0;
  const Index keys = shape.columns(), rows = allowed.empty() ? 0 : shape.rows();
  if (rows > 1) std::fill_n(allowed.data() + keys, keys, false);
  if (rows > 2) allowed.data()[allowed.size() - 1] = true;
  return allowed;
}

Tensor<float> random_bias(const Shape& shape) {
  auto bias = Random(34).normal_tensor<float>(shape);
  const Tensor<bool> allowed = random_allowed(shape);
  for (Index i = 0; i < bias.size(); ++i)
    if (!allowed.data()[i]) bias.data()[i] = -std::numeric_limits<float>::infinity();
  return bias;
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
