// The values of operations at the size of several ranges, against plain loops over their formulas.
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>

#include <weft/autograd/ops/activation.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/attention.hpp>
#include <weft/autograd/ops/comparison.hpp>
#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/autograd/ops/dropout.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/embedding.hpp>
#include <weft/autograd/ops/linear.hpp>
#include <weft/autograd/ops/losses.hpp>
#include <weft/autograd/ops/matmul.hpp>
#include <weft/autograd/ops/normalization.hpp>
#include <weft/autograd/ops/softmax.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/catch.hpp"

namespace weft {
namespace {

// Checks |actual - expected(i)| ≤ tolerance · (unit + |expected(i)|) for every element i.
template <class T, class Expected>
void check_elements(const Tensor<T>& actual, const Expected& expected, double unit = 1.0) {
  constexpr double tolerance = std::is_same_v<T, float> ? 2e-5 : 1e-12;
  Index wrong = 0, first_wrong = 0;
  for (Index i = 0; i < actual.size(); ++i) {
    const double e = expected(i);
    if (std::abs(static_cast<double>(actual.data()[i]) - e) <= tolerance * (unit + std::abs(e)))
      continue;
    if (wrong++ == 0) first_wrong = i;
  }
  INFO(wrong << " elements differ, the first at " << actual.shape().position(first_wrong) << " of "
             << actual.shape());
  CHECK(wrong == 0);
}

template <class T>
Tensor<T> normal_numbers(const Shape& shape, std::uint64_t seed = 1) {
  return Random(seed).normal_tensor<T>(shape);
}

// Element i of a tensor, in double.
template <class T>
double at(const Tensor<T>& tensor, Index i) {
  return static_cast<double>(tensor.data()[i]);
}

// The numbers of a row of a matrix, in double.
template <class T>
std::vector<double> row_of(const Tensor<T>& tensor, Index row) {
  const Index n = tensor.shape().columns();
  std::vector<double> numbers;
  for (Index j = 0; j < n; ++j) numbers.push_back(at(tensor, row * n + j));
  return numbers;
}

// Checks rows of n elements against expected(row), which returns n numbers.
template <class T, class Expected>
void check_rows(const Tensor<T>& actual, const Expected& expected) {
  const Index n = actual.shape().columns();
  std::vector<double> row;
  check_elements(actual, [&](Index i) {
    if (i % n == 0) row = expected(i / n);
    return row[static_cast<std::size_t>(i % n)];
  });
}

double mean_of(const std::vector<double>& numbers) {
  double sum = 0.0;
  for (const double x : numbers) sum += x;
  return sum / static_cast<double>(numbers.size());
}

// Softmax over the first `limit` numbers, 0 for the others.
std::vector<double> softmax_of(std::vector<double> scores, Index limit) {
  double sum = 0.0;
  for (std::size_t j = 0; j < scores.size(); ++j)
    sum += scores[j] = static_cast<Index>(j) < limit ? std::exp(scores[j]) : 0.0;
  for (double& weight : scores) weight = limit == 0 ? 0.0 : weight / sum;
  return scores;
}

double gelu_of(double z) { return 0.5 * z * std::erfc(-z / std::sqrt(2.0)); }

}  // namespace

TEMPLATE_TEST_CASE("values at size: functions of one element", "[autograd]", float, double) {
  using Operation = std::function<Var<TestType>(const Var<TestType>&)>;
  struct Case {
    const char* name;
    Operation operation;
    double (*formula)(double);
  };
  const auto activation = [](Activation a) {
    return [a](const Var<TestType>& x) { return activate(x, a); };
  };
  const auto sigmoid_of = [](double z) { return 1.0 / (1.0 + std::exp(-z)); };
  const std::vector<Case> cases{
      {"exp", exp<TestType>, [](double z) { return std::exp(z); }},
      {"abs", abs<TestType>, [](double z) { return std::abs(z); }},
      {"negate", negate<TestType>, [](double z) { return -z; }},
      {"scale", [](const auto& x) { return scale(x, 0.5); }, [](double z) { return 0.5 * z; }},
      {"power", [](const auto& x) { return power(x, 3.0); }, [](double z) { return z * z * z; }},
      {"clamp", [](const auto& x) { return clamp(x, -0.5, 1.0); },
       [](double z) { return std::min(std::max(z, -0.5), 1.0); }},
      {"relu", activation(Activation::relu), [](double z) { return std::max(z, 0.0); }},
      {"tanh", activation(Activation::tanh), [](double z) { return std::tanh(z); }},
      {"sigmoid", activation(Activation::sigmoid), sigmoid_of},
      {"silu", activation(Activation::silu), [](double z) { return z / (1.0 + std::exp(-z)); }},
      {"gelu", activation(Activation::gelu), gelu_of},
      {"gelu_tanh", activation(Activation::gelu_tanh), [](double z) {
         const double u = std::sqrt(2.0 / 3.14159265358979323846) * (z + 0.044715 * z * z * z);
         return 0.5 * z * (1.0 + std::tanh(u));
       }}};
  const Tensor<TestType> x = normal_numbers<TestType>({60, 81});
  for (const Case& c : cases) {
    INFO(c.name);
    Tape<TestType> tape;
    check_elements(c.operation(tape.constant(x)).value(),
                   [&](Index i) { return c.formula(at(x, i)); });
  }
  const auto positive_x = Random(2).uniform_tensor<TestType>({60, 81}, 0.1, 3.0);
  Tape<TestType> tape;
  check_elements(log(tape.constant(positive_x)).value(),
                 [&](Index i) { return std::log(at(positive_x, i)); });
  check_elements(sqrt(tape.constant(positive_x)).value(),
                 [&](Index i) { return std::sqrt(at(positive_x, i)); });
}

TEMPLATE_TEST_CASE("values at size: arithmetic with broadcasting", "[autograd]", float, double) {
  Tape<TestType> tape;
  const auto a = normal_numbers<TestType>({30, 1, 8, 1}, 1);
  const auto b = Random(2).uniform_tensor<TestType>({40, 1, 6}, 0.5, 2.0);
  const Var<TestType> x = tape.constant(a), y = tape.constant(b);
  const auto check = [&](const Var<TestType>& result, const auto& formula) {
    REQUIRE(result.shape() == Shape{30, 40, 8, 6});
    check_elements(result.value(), [&](Index i) {
      const Index last = i % 6, third = i / 6 % 8, second = i / 48 % 40, first = i / 1920;
      return formula(at(a, first * 8 + third), at(b, second * 6 + last));
    });
  };
  check(x + y, [](double u, double v) { return u + v; });
  check(x - y, [](double u, double v) { return u - v; });
  check(x * y, [](double u, double v) { return u * v; });
  check(x / y, [](double u, double v) { return u / v; });
}

TEMPLATE_TEST_CASE("values at size: products of matrices", "[autograd]", float, double) {
  // The sizes of a batch, or 1 matrix; the last are larger than blocked_product takes.
  for (const auto& [batch, m, k, n] : std::vector<std::array<Index, 4>>{
           {1, 200, 110, 144}, {300, 10, 12, 11}, {2, 800, 800, 5}, {1, 520, 400, 330}}) {
    const auto a = normal_numbers<TestType>({batch, m, k}, 1);
    const auto b = normal_numbers<TestType>({batch, k, n}, 2);
    Tape<TestType> tape;
    const Tensor<TestType> y = matmul(tape.constant(a), tape.constant(b)).value();
    std::vector<double> row;
    INFO(batch << " products of [" << m << ", " << k << "] and [" << k << ", " << n << "]");
    check_elements(
        y,
        [&, rows = m, inner = k, columns = n](Index i) {
          const Index column = i % columns, row_index = i / columns, matrix = row_index / rows;
          if (column == 0) {
            row.assign(static_cast<std::size_t>(columns), 0.0);
            for (Index p = 0; p < inner; ++p) {
              const double factor = at(a, row_index * inner + p);
              const TestType* b_row = b.data() + (matrix * inner + p) * columns;
              for (Index j = 0; j < columns; ++j)
                row[static_cast<std::size_t>(j)] += factor * static_cast<double>(b_row[j]);
            }
          }
          return row[static_cast<std::size_t>(column)];
        },
        std::sqrt(static_cast<double>(k)));
  }
}

TEMPLATE_TEST_CASE("values at size: linear and gelu", "[autograd]", float, double) {
  // Of many rows, and of so few that each weight is read once for all.
  const auto [rows, columns] =
      GENERATE(std::pair(600, 110), std::pair(16, 903), std::pair(1, 5000));
  CAPTURE(rows);
  const auto x = normal_numbers<TestType>({rows, 50}, 1);
  const auto weight = normal_numbers<TestType>({columns, 50}, 2),
             bias = normal_numbers<TestType>({columns}, 3);
  Tape<TestType> tape;
  const auto y =
      linear(tape.constant(x), tape.constant(weight), tape.constant(bias), Activation::gelu);
  const Index out = weight.shape()[0];
  check_elements(y.value(), [&](Index i) {
    const Index row = i / out, column = i % out;
    double z = at(bias, column);
    for (Index p = 0; p < 50; ++p) z += at(x, row * 50 + p) * at(weight, column * 50 + p);
    return gelu_of(z);
  });
}

TEMPLATE_TEST_CASE("values at size: softmax and its relatives", "[autograd]", float, double) {
  const auto x = normal_numbers<TestType>({60, 15, 13});
  Tape<TestType> tape;
  check_rows(softmax(tape.constant(x)).value(),
             [&](Index row) { return softmax_of(row_of(x, row), 13); });
  check_rows(log_softmax(tape.constant(x)).value(), [&](Index row) {
    std::vector<double> numbers = softmax_of(row_of(x, row), 13);
    for (double& number : numbers) number = std::log(number);
    return numbers;
  });
  const ValidLens lengths = random_lengths({60, 15}, 13);
  check_rows(masked_softmax(tape.constant(x), {.valid_lens = lengths}).value(), [&](Index row) {
    return softmax_of(row_of(x, row), lengths.length(row / 15, row % 15, 13));
  });
}

TEMPLATE_TEST_CASE("values at size: losses", "[autograd]", float, double) {
  const Index rows = 300, classes = 21;
  const auto logits = normal_numbers<TestType>({rows, classes});
  Tokens targets = random_tokens({rows}, classes);
  for (Index i = 0; i < rows; i += 7) targets.data()[i] = -100;
  double sum = 0.0, counted = 0.0;
  for (Index row = 0; row < rows; ++row) {
    if (targets.data()[row] < 0) continue;
    std::vector<double> terms = softmax_of(row_of(logits, row), classes);
    for (double& term : terms) term = -std::log(term);
    sum += 0.9 * terms[static_cast<std::size_t>(targets.data()[row])] + 0.1 * mean_of(terms);
    ++counted;
  }
  Tape<TestType> tape;
  const auto near = [](double expected) {
    return Approx(expected).epsilon(std::is_same_v<TestType, float> ? 1e-5 : 1e-12);
  };
  CHECK(cross_entropy(tape.constant(logits), targets, {.label_smoothing = 0.1}).item() ==
        near(sum / counted));

  const Shape shape{200, 251};
  const auto x = normal_numbers<TestType>(shape, 4), t = normal_numbers<TestType>(shape, 5);
  double squares = 0.0;
  for (Index i = 0; i < x.size(); ++i) squares += std::pow(at(x, i) - at(t, i), 2);
  CHECK(mse_loss(tape.constant(x), tape.constant(t)).item() ==
        near(squares / static_cast<double>(x.size())));

  const auto shares = Random(6).uniform_tensor<TestType>(shape, 0.0, 1.0);
  double losses = 0.0;
  for (Index i = 0; i < x.size(); ++i)
    losses += std::log1p(std::exp(at(x, i))) - at(shares, i) * at(x, i);
  CHECK(binary_cross_entropy_with_logits(tape.constant(x), shares).item() ==
        near(losses / static_cast<double>(x.size())));
}

TEMPLATE_TEST_CASE("values at size: norms", "[autograd]", float, double) {
  const Index n = 33;
  const auto x = normal_numbers<TestType>({10, 90, n}, 1);
  const auto weight = normal_numbers<TestType>({n}, 2), bias = normal_numbers<TestType>({n}, 3);
  Tape<TestType> tape;
  const auto mean_square = [](std::vector<double> numbers) {
    for (double& number : numbers) number *= number;
    return mean_of(numbers);
  };
  const Var<TestType> input = tape.constant(x), w = tape.constant(weight), b = tape.constant(bias);
  check_rows(layer_norm(input, w, b, 1e-5).value(), [&](Index row) {
    std::vector<double> numbers = row_of(x, row);
    const double mean = mean_of(numbers);
    for (double& number : numbers) number -= mean;
    const double deviation = std::sqrt(mean_square(numbers) + 1e-5);
    for (Index j = 0; j < n; ++j) {
      double& number = numbers[static_cast<std::size_t>(j)];
      number = number / deviation * at(weight, j) + at(bias, j);
    }
    return numbers;
  });
  check_rows(rms_norm(input, w, 1e-5).value(), [&](Index row) {
    std::vector<double> numbers = row_of(x, row);
    const double root = std::sqrt(mean_square(numbers) + 1e-5);
    for (Index j = 0; j < n; ++j) numbers[static_cast<std::size_t>(j)] *= at(weight, j) / root;
    return numbers;
  });
  check_rows(normalize(input).value(), [&](Index row) {
    std::vector<double> numbers = row_of(x, row);
    const double length = std::sqrt(mean_square(numbers) * static_cast<double>(n));
    for (double& number : numbers) number /= length;
    return numbers;
  });
}

TEMPLATE_TEST_CASE("values at size: rows that are picked, masked or dropped", "[autograd]", float,
                   double) {
  const auto x = normal_numbers<TestType>({250, 200});
  Tape<TestType> tape;
  const Tokens tokens = random_tokens({300}, 250);
  check_rows(embedding(tokens, tape.constant(x)).value(),
             [&](Index row) { return row_of(x, tokens.data()[row]); });
  const Tensor<bool> kept = random_allowed({25, 10}).reshaped({250, 1});
  check_rows(where(kept, tape.constant(x), 0.0).value(), [&](Index row) {
    return kept.data()[row] ? row_of(x, row) : std::vector<double>(200, 0.0);
  });
  Tape<TestType> training({.training = true, .seed = 8});
  training.set_step(2);
  std::vector<std::uint16_t> numbers(static_cast<std::size_t>(x.size()));
  RandomStream{8, 2, 0}.fill(0, x.size(), numbers.data());
  check_elements(dropout(training.constant(x), 0.25).value(), [&](Index i) {
    return numbers[static_cast<std::size_t>(i)] >= 1 << 14 ? at(x, i) / 0.75 : 0.0;
  });
}

TEMPLATE_TEST_CASE("values at size: attention over several tiles of queries and keys", "[autograd]",
                   float, double) {
  const Index batch = 2, heads = 2, queries = 270, keys = 280, size = 3;
  const auto q = normal_numbers<TestType>({batch, queries, heads * size}, 1);
  const auto k = normal_numbers<TestType>({batch, keys, heads * size}, 2);
  const auto v = normal_numbers<TestType>({batch, keys, heads * size}, 3);
  const ValidLens lengths = random_lengths({batch, queries}, keys);
  for (const bool causal : {false, true}) {
    INFO("causal " << causal);
    Tape<TestType> tape;
    const auto y = scaled_dot_product_attention(
        tape.constant(q), tape.constant(k), tape.constant(v),
        {.num_heads = heads, .mask = {.valid_lens = lengths, .causal = causal}});
    check_rows(y.value(), [&](Index row) {
      const Index b = row / queries, query = row % queries;
      Index limit = lengths.length(b, query, keys);
      if (causal) limit = std::min(limit, query + 1 + keys - queries);
      std::vector<double> result;
      for (Index head = 0; head < heads; ++head) {
        const auto element = [&](const Tensor<TestType>& tensor, Index position, Index i) {
          return at(tensor, position * heads * size + head * size + i);
        };
        std::vector<double> scores;
        for (Index key = 0; key < keys; ++key) {
          double score = 0.0;
          for (Index i = 0; i < size; ++i)
            score += element(q, row, i) * element(k, b * keys + key, i);
          scores.push_back(score / std::sqrt(static_cast<double>(size)));
        }
        const std::vector<double> weights = softmax_of(scores, limit);
        for (Index i = 0; i < size; ++i) {
          double sum = 0.0;
          for (Index key = 0; key < keys; ++key)
            sum += weights[static_cast<std::size_t>(key)] * element(v, b * keys + key, i);
          result.push_back(sum);
        }
      }
      return result;
    });
  }
}

}  // namespace weft
