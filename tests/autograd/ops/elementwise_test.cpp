#include <cmath>
#include <limits>
#include <map>

#include <weft/autograd/ops/activation.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/random.hpp>
#include "tests/autograd/gradient_table.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/compare.hpp"

namespace weft {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// The value and derivative of a function at x, computed by PyTorch
// (tests/golden/print_elementwise.py).
struct Row {
  std::string function;
  double x, value, derivative;
};
const std::vector<Row> rows = {
    {"exp", -9, 0.000123409804087, 0.000123409804087},
    {"exp", -1.25, 0.28650479686, 0.28650479686},
    {"exp", -0.01, 0.990049833749, 0.990049833749},
    {"exp", 0.5, 1.6487212707, 1.6487212707},
    {"exp", 1.25, 3.49034295746, 3.49034295746},
    {"exp", 7, 1096.63315843, 1096.63315843},
    {"log", 0.01, -4.60517018599, 100},
    {"log", 0.5, -0.69314718056, 2},
    {"log", 1.25, 0.223143551314, 0.8},
    {"log", 7, 1.94591014906, 0.142857142857},
    {"sqrt", 0.01, 0.1, 5},
    {"sqrt", 0.5, 0.707106781187, 0.707106781187},
    {"sqrt", 1.25, 1.11803398875, 0.4472135955},
    {"sqrt", 7, 2.64575131106, 0.188982236505},
    {"power", 0.01, 1e-05, 0.0025},
    {"power", 0.5, 0.176776695297, 0.883883476483},
    {"power", 1.25, 1.74692810742, 3.49385621484},
    {"power", 7, 129.641814242, 46.3006479436},
    {"abs", -9, 9, -1},
    {"abs", -1.25, 1.25, -1},
    {"abs", -0.01, 0.01, -1},
    {"abs", 0.5, 0.5, 1},
    {"abs", 1.25, 1.25, 1},
    {"abs", 7, 7, 1},
    {"tanh", -9, -0.99999996954, 6.09199170712e-08},
    {"tanh", -1.25, -0.848283639958, 0.28041486618},
    {"tanh", -0.01, -0.00999966668, 0.999900006666},
    {"tanh", 0.5, 0.46211715726, 0.786447732966},
    {"tanh", 1.25, 0.848283639958, 0.28041486618},
    {"tanh", 7, 0.999998336944, 3.32610934487e-06},
    {"sigmoid", -9, 0.000123394575986, 0.000123379349765},
    {"sigmoid", -1.25, 0.222700138825, 0.173104786992},
    {"sigmoid", -0.01, 0.497500020833, 0.249993750104},
    {"sigmoid", 0.5, 0.622459331202, 0.235003712202},
    {"sigmoid", 1.25, 0.777299861175, 0.173104786992},
    {"sigmoid", 7, 0.999088948806, 0.000910221180122},
    {"relu", -9, 0, 0},
    {"relu", -1.25, 0, 0},
    {"relu", -0.01, 0, 0},
    {"relu", 0.5, 0.5, 1},
    {"relu", 1.25, 1.25, 1},
    {"relu", 7, 7, 1},
    {"squared_relu", -9, 0, 0},
    {"squared_relu", -1.25, 0, 0},
    {"squared_relu", -0.01, 0, 0},
    {"squared_relu", 0.5, 0.25, 1},
    {"squared_relu", 1.25, 1.5625, 2.5},
    {"squared_relu", 7, 49, 14},
    {"softplus", -9, 0.000123402189723, 0.000123394575986},
    {"softplus", -1.25, 0.251929081345, 0.222700138825},
    {"softplus", -0.01, 0.688159680508, 0.497500020833},
    {"softplus", 0.5, 0.97407698418, 0.622459331202},
    {"softplus", 1.25, 1.50192908135, 0.777299861175},
    {"softplus", 7, 7.00091146645, 0.999088948806},
    {"log1p", 0.01, 0.00995033085317, 0.990099009901},
    {"log1p", 0.5, 0.405465108108, 0.666666666667},
    {"log1p", 1.25, 0.810930216216, 0.444444444444},
    {"log1p", 7, 2.07944154168, 0.125},
    {"log1p", -0.01, -0.0100503358535, 1.0101010101},
    {"leaky_relu", -9, -2.7, 0.3},
    {"leaky_relu", -1.25, -0.375, 0.3},
    {"leaky_relu", -0.01, -0.003, 0.3},
    {"leaky_relu", 0.5, 0.5, 1},
    {"leaky_relu", 1.25, 1.25, 1},
    {"leaky_relu", 7, 7, 1},
    {"gelu", -9, -0, -9.2517962145e-18},
    {"gelu", -1.25, -0.132062217084, -0.122661583069},
    {"gelu", -0.01, -0.00496010643685, 0.492021420348},
    {"gelu", 0.5, 0.345731230637, 0.867495124656},
    {"gelu", 1.25, 1.11793778292, 1.12266158307},
    {"gelu", 7, 6.99999999999, 1.00000000006},
    {"gelu_tanh", -9, -0, 0},
    {"gelu_tanh", -1.25, -0.13228579703, -0.12249263225},
    {"gelu_tanh", -0.01, -0.00496010644014, 0.492021421664},
    {"gelu_tanh", 0.5, 0.345714009825, 0.867369903535},
    {"gelu_tanh", 1.25, 1.11771420297, 1.12249263225},
    {"gelu_tanh", 7, 7, 1},
    {"silu", -9, -0.00111055118388, -0.000987019571897},
    {"silu", -1.25, -0.278375173532, 0.00631915508469},
    {"silu", -0.01, -0.00497500020833, 0.495000083332},
    {"silu", 0.5, 0.311229665601, 0.739961187303},
    {"silu", 1.25, 0.971624826468, 0.993680844915},
    {"silu", 7, 6.99362264164, 1.00546049707},
    {"clamp", -9, -0.5, 0},
    {"clamp", -1.25, -0.5, 0},
    {"clamp", -0.01, -0.01, 1},
    {"clamp", 0.5, 0.5, 1},
    {"clamp", 1.25, 1.25, 1},
    {"clamp", 7, 1.25, 0},
};

template <class T>
using Function = Var<T> (*)(const Var<T>&);

template <class T>
const std::map<std::string, Function<T>> functions = {
    {"exp", exp},
    {"log", log},
    {"log1p", log1p},
    {"softplus", softplus},
    {"squared_relu", squared_relu},
    {"leaky_relu", [](const Var<T>& x) { return leaky_relu(x, 0.3); }},
    {"sqrt", sqrt},
    {"power", [](const Var<T>& x) { return power(x, 2.5); }},
    {"abs", abs},
    {"tanh", tanh},
    {"sigmoid", sigmoid},
    {"relu", relu},
    {"gelu", gelu},
    {"gelu_tanh", gelu_tanh},
    {"silu", silu},
    {"clamp", [](const Var<T>& x) { return clamp(x, -0.5, 1.25); }},
};

// The value of a function at each of `points`, and its gradient for an upstream of ones.
template <class T>
std::pair<Tensor<T>, Tensor<T>> value_and_derivative(Function<T> function, Tensor<T> points) {
  Parameter<T> x(std::move(points));
  Tape<T> tape;
  const Var<T> y = function(tape.parameter(x));
  tape.backward(y, Tensor<T>::full(y.shape(), T{1}));
  return {y.value(), x.grad()};
}

template <class T>
Tensor<T> value_of(Function<T> function, Tensor<T> points) {
  return value_and_derivative(function, std::move(points)).first;
}

}  // namespace

TEMPLATE_TEST_CASE("functions of one element: values and derivatives match PyTorch", "[autograd]",
                   float, double) {
  const double accuracy = std::is_same_v<TestType, float> ? 1e-6 : 1e-10;
  for (const Row& row : rows) {
    INFO(row.function << " at " << row.x);
    // A single element, and many, which vectorized code computes.
    for (const Index count : {1, 67}) {
      const auto points = Tensor<TestType>::full({count}, static_cast<TestType>(row.x));
      const auto [y, dx] = value_and_derivative(functions<TestType>.at(row.function), points);
      for (Index i = 0; i < count; ++i) {
        CHECK(std::abs(double{y(i)} - row.value) <= accuracy * (1.0 + std::abs(row.value)));
        CHECK(std::abs(double{dx(i)} - row.derivative) <=
              accuracy * (1.0 + std::abs(row.derivative)));
      }
    }
  }
}

TEST_CASE("functions of one element: every activation is compared", "[autograd]") {
  for (const auto& [activation, name] : activation_names)
    if (activation != Activation::none) {
      INFO(name);
      CHECK(std::any_of(rows.begin(), rows.end(),
                        [wanted = name](const Row& row) { return row.function == wanted; }));
      CHECK(functions<float>.contains(name));
    }
}

TEST_CASE("functions of one element: float is close to double from -12 to 12", "[autograd]") {
  constexpr Index count = 4801;
  Tensor<float> points({count});
  for (Index i = 0; i < count; ++i) points(i) = -12.0F + 0.005F * static_cast<float>(i);
  Tensor<double> same_points({count});
  std::copy(points.begin(), points.end(), same_points.begin());

  for (const std::string name : {"exp", "tanh", "sigmoid", "relu", "gelu", "gelu_tanh", "softplus",
                                 "squared_relu", "leaky_relu"}) {
    const auto [y, dx] = value_and_derivative(functions<float>.at(name), points);
    const auto [exact_y, exact_dx] = value_and_derivative(functions<double>.at(name), same_points);
    double worst_value = 0.0, worst_derivative = 0.0;
    for (Index i = 0; i < count; ++i) {
      const auto error = [](double value, double exact) {
        return std::abs(value - exact) / (1.0 + std::abs(exact));
      };
      worst_value = std::max(worst_value, error(double{y(i)}, exact_y(i)));
      worst_derivative = std::max(worst_derivative, error(double{dx(i)}, exact_dx(i)));
    }
    INFO(name);
    CHECK(worst_value < 1e-6);
    CHECK(worst_derivative < 2e-6);
  }
}

TEST_CASE("functions of one element: infinities and NaN", "[autograd]") {
  const Tensor<float> points({6}, {-infinity, infinity, nan, 0.0F, 200.0F, -20.0F});
  const auto value = [&](const char* name) { return value_of(functions<float>.at(name), points); };
  // 0, or close to it: without AVX-512, Eigen's vectors stop at e^-88.4.
  CHECK(value("exp")(0) < 3e-39F);
  CHECK(value("exp")(1) == infinity);
  CHECK(value("exp")(4) == infinity);
  CHECK(value("log")(3) == -infinity);
  CHECK(std::isnan(value("log")(0)));
  CHECK(std::isnan(value("sqrt")(0)));
  CHECK(value("tanh")(0) == -1.0F);
  CHECK(value("tanh")(1) == 1.0F);
  CHECK(value("sigmoid")(0) == 0.0F);
  CHECK(value("sigmoid")(1) == 1.0F);
  CHECK(value("log1p")(3) == 0.0F);
  CHECK(value("softplus")(0) < 3e-38F);
  CHECK(value("softplus")(1) == infinity);
  CHECK(value("softplus")(4) == 200.0F);
  CHECK(value("softplus")(5) == Approx(std::exp(-20.0)).epsilon(1e-5));  // below 1's rounding error
  CHECK(value("leaky_relu")(0) == -infinity);
  CHECK(value("gelu")(4) == 200.0F);
  CHECK(value("gelu_tanh")(4) == 200.0F);
  for (const auto& [name, function] : functions<float>) {
    INFO(name);
    CHECK(std::isnan(value_of(function, points)(2)));
  }
}

TEST_CASE("functions of one element: the derivative at a kink is as documented", "[autograd]") {
  const auto derivative_at = [](const char* name, float x) {
    return value_and_derivative(functions<float>.at(name), Tensor<float>({1}, {x})).second(0);
  };
  CHECK(derivative_at("relu", 0.0F) == 0.0F);
  CHECK(derivative_at("abs", 0.0F) == 0.0F);
  CHECK(derivative_at("leaky_relu", 0.0F) == 0.3F);
  CHECK(derivative_at("clamp", -0.5F) == 1.0F);
  CHECK(derivative_at("clamp", 1.25F) == 1.0F);
  CHECK(derivative_at("sqrt", 0.0F) == infinity);
  // For large inputs the derivative is 0, however large its factors.
  CHECK(derivative_at("gelu_tanh", -1e13F) == 0.0F);
}

TEST_CASE("power: x^0 is 1 with derivative 0, also at 0, and negative numbers have integer powers",
          "[autograd]") {
  const auto [y, dx] = value_and_derivative<double>(
      [](const Var<double>& x) { return power(x, 0.0); }, Tensor<double>({2}, {0.0, -3.0}));
  CHECK(y(0) == 1.0);
  CHECK(dx(0) == 0.0);
  const auto cube = [](const Var<double>& x) { return power(x, 3.0); };
  CHECK(value_of<double>(cube, Tensor<double>({1}, {-2.0}))(0) == Approx(-8.0));
}

TEST_CASE("log1p: accurate for small numbers", "[autograd]") {
  const Tensor<float> y = value_of<float>(log1p, Tensor<float>({2}, {1e-10F, -1e-6F}));
  CHECK(y(0) == 1e-10F);
  CHECK(y(1) == Approx(-1.0000005e-6).epsilon(1e-6));
}

TEST_CASE("scale and negate: 2.5 x and -x", "[autograd]") {
  Tape<float> tape;
  const Var x = tape.constant(Tensor<float>({3}, {1, -2, 4}));
  CHECK(scale(x, 2.5).value()(1) == -5.0F);
  CHECK((-x).value()(2) == -4.0F);
}

TEST_CASE("clamp: throws unless low ≤ high", "[autograd]") {
  Tape<float> tape;
  const Var x = tape.constant(Tensor<float>({1}, {0}));
  CHECK_THROWS_WITH(clamp(x, 2.0, 1.0), "clamp: expected low ≤ high, got 2 and 1");
  CHECK_THROWS_AS(clamp(x, std::nan(""), 1.0), ValueError);
  CHECK(clamp(x, 1.0, 1.0).value()(0) == 1.0F);
}

TEST_CASE("gated: an activation times the other input, the same bits on any number of threads",
          "[autograd]") {
  Random random(4);
  const auto gate = random.normal_tensor<float>({100, 777}),
             x = random.normal_tensor<float>({100, 777});
  for (const auto& [activation, name] : activation_names) {
    CAPTURE(name);
    check_same_bits([&, f = activation] {
      Tape<float> tape;
      const auto g = tape.variable(gate), v = tape.variable(x);
      const auto y = gated(g, v, f);
      CHECK(distance(y.value(), (activate(g, f) * v).value()) < 1e-6);
      std::vector<Tensor<float>> results = tape.gradients(y, x, {g, v});
      results.push_back(y.value());
      return results;
    });
  }
  Tape<float> tape;
  CHECK_THROWS_WITH(
      gated(tape.constant(gate), tape.constant(Tensor<float>({777})), Activation::silu),
      "gated: expected [100, 777], got [777]");
}

TEST_CASE("functions of one element: empty tensors are allowed", "[autograd]") {
  for (const auto& [name, function] : functions<float>) {
    const auto [y, dx] = value_and_derivative(function, Tensor<float>({2, 0}));
    CHECK(y.shape() == Shape{2, 0});
    CHECK(dx.shape() == Shape{2, 0});
  }
}

TEST_CASE("functions of one element: the same bits on any number of threads", "[autograd]") {
  const auto points = Random(3).normal_tensor<float>({100, 777});
  for (const auto& [name, function] : functions<float>)
    check_same_bits([&, f = function] {
      auto [y, dx] = value_and_derivative(f, points);
      return std::vector{y, dx};
    });
}

namespace {

std::vector<GradientCase> gradient_rows() {
  return {
      {"scale", "by -2.5", {{2, 3}}, {{200, 250}}, [](const auto& x) { return scale(x[0], -2.5); }},
      {"negate", "x", {{2, 3}}, {{200, 250}}, [](const auto& x) { return -x[0]; }},
      {"exp", "x", {{2, 3}}, {{60, 80}}, [](const auto& x) { return exp(x[0]); }},
      {"log",
       "x > 0",
       {positive({2, 3})},
       {positive({60, 80})},
       [](const auto& x) { return log(x[0]); }},
      {"log1p",
       "x > 0",
       {positive({2, 3})},
       {positive({60, 80})},
       [](const auto& x) { return log1p(x[0]); }},
      {"leaky_relu",
       "away from 0",
       {away_from_zero({3, 4})},
       {away_from_zero({60, 280})},
       [](const auto& x) { return leaky_relu(x[0], 0.3); }},
      {"sqrt",
       "x > 0",
       {positive({2, 3})},
       {positive({60, 80})},
       [](const auto& x) { return sqrt(x[0]); }},
      {"power", "cube", {{2, 3}}, {{60, 80}}, [](const auto& x) { return power(x[0], 3.0); }},
      {"power",
       "x^-1.5",
       {positive({2, 3})},
       {positive({60, 80})},
       [](const auto& x) { return power(x[0], -1.5); }},
      {"power", "x^0", {{2, 3}}, {{60, 80}}, [](const auto& x) { return power(x[0], 0.0); }},
      {"abs",
       "away from 0",
       {away_from_zero({3, 4})},
       {away_from_zero({60, 80})},
       [](const auto& x) { return abs(x[0]); }},
      {"clamp",
       "inside and outside",
       {distinct({3, 4})},
       {tenths({60, 80})},
       [](const auto& x) { return clamp(x[0], 0.35, 0.95); }},
  };
}

// Each activation under its own name, away from 0, where some have a kink.
std::vector<GradientCase> activation_rows() {
  std::vector<GradientCase> all;
  for (const auto& [activation, name] : activation_names) {
    const auto apply = [function = activation](const auto& x) { return activate(x[0], function); };
    const std::string operation = activation == Activation::none ? "activate" : name;
    all.push_back(
        {operation, "away from 0", {away_from_zero({3, 7})}, {away_from_zero({60, 80})}, apply});
    all.push_back({"gated",
                   name,
                   {away_from_zero({3, 7}), {3, 7}},
                   {away_from_zero({60, 280}), {60, 280}},
                   [function = activation](const auto& x) { return gated(x[0], x[1], function); }});
  }
  return all;
}

const GradientRows registered(gradient_rows()), registered_activations(activation_rows());

}  // namespace
}  // namespace weft
