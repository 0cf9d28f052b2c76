// The rows of the gradient table with their large inputs, which make several ranges of each kernel.

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

#include "tests/autograd/gradient_table.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/thread_count_guard.hpp"

namespace weft {
namespace {

constexpr std::uint64_t seed = 11;

std::string name_of(const GradientCase& row) { return row.operation + ": " + row.description; }

// The values of inputs, the same in float and in double.
std::vector<Tensor<double>> draw(const std::vector<InputValues>& inputs) {
  Random random(21);
  std::vector<Tensor<double>> values;
  for (const InputValues& input : inputs) {
    values.push_back(input.draw(random));
    for (double& value : values.back()) value = static_cast<double>(static_cast<float>(value));
  }
  return values;
}

template <class T>
Tensor<T> convert(const Tensor<double>& values) {
  auto converted = Tensor<T>::uninitialized(values.shape());
  std::transform(values.begin(), values.end(), converted.begin(),
                 [](double value) { return static_cast<T>(value); });
  return converted;
}

Var<double> evaluate(const GradientCase& row, const Variables<double>& x) {
  return row.function(x);
}
Var<float> evaluate(const GradientCase& row, const Variables<float>& x) {
  return row.float_function(x);
}

// Numbers of -1 to 1: Marsaglia's xorshift, much faster than `Random`.
Tensor<double> noise(const Shape& shape, std::uint64_t sequence = 0) {
  auto numbers = Tensor<double>::uninitialized(shape);
  std::uint64_t state = 0x9E3779B97F4A7C15 * (sequence + 1);
  for (double& number : numbers) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    number = static_cast<double>(static_cast<std::int64_t>(state)) * 0x1p-63;
  }
  return numbers;
}

template <class T>
struct Gradients {
  Tensor<T> value;
  std::vector<Tensor<T>> of_inputs;  // empty for a constant
};

// One pass with gradients that start at `before`, or empty in memory filled with NaN, for an
// upstream gradient that depends on the result's shape only. `constant` is the index of an input
// that wants no gradient, -1 for none.
template <class T>
Gradients<T> gradients(const GradientCase& row, const std::vector<Tensor<double>>& values,
                       std::optional<double> before = {}, std::ptrdiff_t constant = -1) {
  std::vector<Parameter<T>> parameters;
  for (const Tensor<double>& value : values) {
    parameters.emplace_back(convert<T>(value));
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const T start = static_cast<T>(before.value_or(nan));
    parameters.back().set_grad(Tensor<T>::full(value.shape(), start));
    if (!before) parameters.back().zero_grad();
  }
  Tape<T> tape({.training = true, .seed = seed});
  Variables<T> inputs;
  for (std::size_t i = 0; i < values.size(); ++i)
    inputs.push_back(std::ssize(inputs) == constant ? tape.constant(convert<T>(values[i]))
                                                    : tape.parameter(parameters[i]));
  const Var<T> y = evaluate(row, inputs);
  Gradients<T> result{y.value().clone(), {}};
  if (y.node() != no_node) tape.backward(y, convert<T>(noise(y.shape())));
  for (std::size_t i = 0; i < values.size(); ++i)
    result.of_inputs.push_back(
        static_cast<std::ptrdiff_t>(i) == constant ? Tensor<T>() : parameters[i].grad().clone());
  return result;
}

// Noise from element `first` on, 0 before.
Tensor<double> direction(const Shape& shape, Index first) {
  Tensor<double> v = noise(shape, 1);
  std::fill_n(v.data(), first, 0.0);
  return v;
}

double inner_product(const Tensor<double>& a, const Tensor<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// The result with one input moved.
Tensor<double> value_at(const GradientCase& row, const std::vector<Tensor<double>>& values,
                        std::size_t moved, const Tensor<double>& v, double step) {
  Tape<double> tape({.training = true, .recording = false, .seed = seed});
  Variables<double> inputs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Tensor<double> value = values[i].clone();
    if (i == moved)
      std::transform(v.begin(), v.end(), value.begin(), value.begin(),
                     [step](double d, double x) { return x + step * d; });
    inputs.push_back(tape.constant(value));
  }
  return evaluate(row, inputs).value();
}

// The central difference of <upstream, result>, subtracted before it is summed.
double central_difference(const GradientCase& row, const std::vector<Tensor<double>>& values,
                          std::size_t moved, const Tensor<double>& v) {
  constexpr double eps = 1e-5;
  Tensor<double> difference = value_at(row, values, moved, v, eps).clone();
  const Tensor<double> left = value_at(row, values, moved, v, -eps);
  std::transform(difference.begin(), difference.end(), left.begin(), difference.begin(),
                 std::minus<double>());
  return inner_product(noise(difference.shape()), difference) / (2.0 * eps);
}

template <class T>
bool same_bits(const Tensor<T>& a, const Tensor<T>& b) {
  return a.shape() == b.shape() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), a.values().size_bytes()) == 0);
}

}  // namespace

TEST_CASE("gradient table: every row agrees with differences along directions at size",
          "[autograd]") {
  const ThreadCountGuard threads(2);  // so that matrix products are computed in tiles
  for (const GradientCase& row : gradient_table()) {
    const std::vector<Tensor<double>> values = draw(row.large);
    const Gradients<double> fresh = gradients<double>(row, values);
    const Gradients<double> added = gradients<double>(row, values, 0.75);
    for (std::size_t i = 0; i < values.size(); ++i) {
      // Everywhere, in the last tenth, and in the last few elements, which lie in the last range.
      const Index size = values[i].size();
      for (const Index first : {Index{0}, size - size / 10, size - size / 250}) {
        if (first == size) continue;
        const Tensor<double> v = direction(values[i].shape(), first);
        const double numeric = central_difference(row, values, i, v);
        const double sum = std::accumulate(v.begin(), v.end(), 0.0);
        const double allowed = 1e-7 + 1e-6 * std::abs(numeric);
        INFO(name_of(row) << ", input " << i << " from element " << first);
        CHECK(std::abs(inner_product(fresh.of_inputs[i], v) - numeric) <= allowed);
        CHECK(std::abs(inner_product(added.of_inputs[i], v) - 0.75 * sum - numeric) <= allowed);
      }
    }
  }
}

TEST_CASE("gradient table: a constant input changes no bit of the other gradients", "[autograd]") {
  const ThreadCountGuard threads(2);  // so that matrix products are computed in tiles
  for (const GradientCase& row : gradient_table()) {
    for (const auto& inputs : {row.small, row.large}) {
      if (inputs.size() < 2) continue;
      const std::vector<Tensor<double>> values = draw(inputs);
      const Gradients<double> all = gradients<double>(row, values);
      for (std::size_t constant = 0; constant < values.size(); ++constant) {
        const Gradients<double> others =
            gradients<double>(row, values, {}, static_cast<std::ptrdiff_t>(constant));
        INFO(name_of(row) << ", input " << constant << " of shape " << values[constant].shape()
                          << " constant");
        CHECK(same_bits(others.value, all.value));
        for (std::size_t i = 0; i < values.size(); ++i)
          if (i != constant) CHECK(same_bits(others.of_inputs[i], all.of_inputs[i]));
      }
    }
  }
}

TEST_CASE("gradient table: float agrees with double at size", "[autograd]") {
  const ThreadCountGuard threads(2);  // so that matrix products are computed in tiles
  for (const GradientCase& row : gradient_table()) {
    const std::vector<Tensor<double>> values = draw(row.large);
    const Gradients<double> expected = gradients<double>(row, values);
    const Gradients<float> actual = gradients<float>(row, values);
    INFO(name_of(row));
    CHECK(distance(actual.value, expected.value) < 1e-4);
    for (std::size_t i = 0; i < values.size(); ++i) {
      INFO("input " << i);
      CHECK(distance(actual.of_inputs[i], expected.of_inputs[i]) < 1e-4);
    }
  }
}

TEST_CASE("gradient table: the large inputs of every row are larger", "[autograd]") {
  const auto sizes = [](const std::vector<InputValues>& inputs) {
    Index sum = 0;
    for (const Tensor<double>& values : draw(inputs))
      sum = std::accumulate(values.shape().begin(), values.shape().end(), sum);
    return sum;
  };
  for (const GradientCase& row : gradient_table()) {
    INFO(name_of(row));
    CHECK(row.small.size() == row.large.size());
    CHECK(sizes(row.large) >= 4 * sizes(row.small));
  }
}

}  // namespace weft
