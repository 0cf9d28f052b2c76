#include "weft/autograd/ops/elementwise.hpp"

#include <algorithm>
#include <cmath>

#include "autograd/kernels/arrays.hpp"

namespace weft {
namespace {

// The cost of an element, in multiply-adds, if a function such as e^x is computed.
constexpr Index function_cost = 12;

template <class T, class Value>
Tensor<T> map(const Var<T>& x, const Value& value) {
  Tensor<T> y = x.tape().uninitialized(x.shape());
  parallel_for(x.size(), grain_of(function_cost), [&](Index begin, Index end) {
    array(y, begin, end) = value(array(x.value(), begin, end));
  });
  return y;
}

// Records y, computed from x element by element, with dx = derivative(dy, kept). `kept` is x or y,
// whichever the derivative is computed from.
template <class T, class Derivative>
Var<T> record_map(const char* operation, const Var<T>& x, const Tensor<T>& y, const Tensor<T>& kept,
                  Derivative derivative) {
  return x.tape().record(
      operation, y, {x.node()},
      [x = x.node(), kept, derivative](Tape<T>& backward, const Tensor<T>& dy) {
        const Gradient<T> dx = backward.gradient(x);
        parallel_for(dy.size(), grain_of(function_cost), [&](Index begin, Index end) {
          accumulate(dx, begin, end, derivative(array(dy, begin, end), array(kept, begin, end)));
        });
      });
}

// Functions of one element. `value` and `derivative` map Eigen arrays.
template <class T, class Value, class Derivative>
Var<T> function_of_input(const char* operation, const Var<T>& x, const Value& value,
                         const Derivative& derivative) {
  return record_map(operation, x, map(x, value), x.value(), derivative);
}
template <class T, class Value, class Derivative>
Var<T> function_of_output(const char* operation, const Var<T>& x, const Value& value,
                          const Derivative& derivative) {
  const Tensor<T> y = map(x, value);
  return record_map(operation, x, y, y, derivative);
}

}  // namespace

// Forward:  y = factor x.
// Backward: dx = factor dy, so nothing is kept.
template <class T>
Var<T> scale(const Var<T>& x, double factor) {
  const auto f = static_cast<T>(factor);
  const Tensor<T> y = map(x, [f](const auto& v) { return v * f; });
  return x.tape().record("scale", y, {x.node()},
                         [x = x.node(), f](Tape<T>& backward, const Tensor<T>& dy) {
                           const Gradient<T> dx = backward.gradient(x);
                           parallel_for(dy.size(), grain_of(1), [&](Index begin, Index end) {
                             accumulate(dx, begin, end, array(dy, begin, end) * f);
                           });
                         });
}

template <class T>
Var<T> exp(const Var<T>& x) {
  return function_of_output(
      "exp", x, [](const auto& v) { return v.exp(); },
      [](const auto& dy, const auto& y) { return dy * y; });
}

template <class T>
Var<T> log(const Var<T>& x) {
  return function_of_input(
      "log", x, [](const auto& v) { return v.log(); },
      [](const auto& dy, const auto& v) { return dy / v; });
}

template <class T>
Var<T> log1p(const Var<T>& x) {
  return function_of_input(
      "log1p", x, [](const auto& v) { return v.log1p(); },
      [](const auto& dy, const auto& v) { return dy / (T{1} + v); });
}

template <class T>
Var<T> sqrt(const Var<T>& x) {
  return function_of_output(
      "sqrt", x, [](const auto& v) { return v.sqrt(); },
      [](const auto& dy, const auto& y) { return dy * T{0.5} / y; });
}

template <class T>
Var<T> power(const Var<T>& x, double exponent) {
  const auto p = static_cast<T>(exponent);
  return function_of_input(
      "power", x, [p](const auto& v) { return v.unaryExpr([p](T z) { return std::pow(z, p); }); },
      [p](const auto& dy, const auto& v) {
        // The slope of x^0 is 0 even where 0 x^-1 would be NaN.
        return dy * v.unaryExpr([p](T z) { return p == 0 ? T{0} : p * std::pow(z, p - 1); });
      });
}

template <class T>
Var<T> abs(const Var<T>& x) {
  return function_of_input(
      "abs", x, [](const auto& v) { return v.abs(); },
      [](const auto& dy, const auto& v) { return dy * v.sign(); });
}

template <class T>
Var<T> clamp(const Var<T>& x, double low, double high) {
  if (!(low <= high)) fail<ValueError>("clamp", "low ≤ high", str_cat(low, " and ", high));
  const auto a = static_cast<T>(low), b = static_cast<T>(high);
  return function_of_input(
      "clamp", x,
      [a, b](const auto& v) { return v.unaryExpr([a, b](T z) { return std::clamp(z, a, b); }); },
      [a, b](const auto& dy, const auto& v) { return dy * (v >= a && v <= b).template cast<T>(); });
}

template Var<float> exp(const Var<float>&);
template Var<double> exp(const Var<double>&);
template Var<float> log(const Var<float>&);
template Var<double> log(const Var<double>&);
template Var<float> log1p(const Var<float>&);
template Var<double> log1p(const Var<double>&);
template Var<float> sqrt(const Var<float>&);
template Var<double> sqrt(const Var<double>&);
template Var<float> abs(const Var<float>&);
template Var<double> abs(const Var<double>&);
template Var<float> scale(const Var<float>&, double);
template Var<double> scale(const Var<double>&, double);
template Var<float> power(const Var<float>&, double);
template Var<double> power(const Var<double>&, double);
template Var<float> clamp(const Var<float>&, double, double);
template Var<double> clamp(const Var<double>&, double, double);

}  // namespace weft
