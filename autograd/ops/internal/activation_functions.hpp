// Activation functions and their slopes on ranges of elements, for the operations that apply them.
// Included by definitions only.
#pragma once

#include <cmath>
#include <numbers>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/activation.hpp"
#include "weft/autograd/shape.hpp"
#include "autograd/kernels/vector_math.hpp"

namespace weft {

// Each activation is a pair of functions of one number: its value at z and its slope at z. The
// slope may be computed from y = value(z) instead of z.

template <class T>
struct Relu {
  static T value(T z) { return z > T{0} ? z : (z != z ? z : T{0}); }
  static T slope(T, T y) { return y > T{0} ? T{1} : T{0}; }
};

template <class T>
struct Tanh {
  static T value(T z) { return fast_tanh(z); }
  static T slope(T, T y) { return T{1} - y * y; }
};

template <class T>
struct Sigmoid {
  static T value(T z) {
    // e^-|z| cannot overflow.
    const T e = fast_exp(-std::abs(z));
    const T y = T{1} / (T{1} + e);
    return z < T{0} ? e * y : y;
  }
  static T slope(T, T y) { return y * (T{1} - y); }
};

// z Φ(z); the slope is Φ(z) + z φ(z).
template <class T>
struct Gelu {
  static T value(T z) { return z * normal_cdf(z); }
  static T slope(T z, T) {
    constexpr T inverse_sqrt_2pi = std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
    return normal_cdf(z) + z * inverse_sqrt_2pi * gaussian(z);
  }
  static T gaussian(T z) { return fast_exp(T{-0.5} * z * z); }
  static T normal_cdf(T z) {
    return T{0.5} * (T{1} + fast_erf(z / std::numbers::sqrt2_v<T>, gaussian(z)));
  }
};

// z/2 (1 + tanh u) = z sigmoid(2u), u = √(2/π) (z + 0.044715 z³).
template <class T>
struct GeluTanh {
  static constexpr T twice_factor = T{2} * std::numbers::sqrt2_v<T> * std::numbers::inv_sqrtpi_v<T>;
  static constexpr T cubic = static_cast<T>(0.044715);
  static T share(T z) { return Sigmoid<T>::value(twice_factor * (z + cubic * z * z * z)); }
  static T value(T z) { return z * share(z); }
  static T slope(T z, T) {
    const T s = share(z);
    return s + z * s * (T{1} - s) * twice_factor * (T{1} + T{3} * cubic * z * z);
  }
};

// z σ(z); the slope is σ(z) (1 + z (1 - σ(z))).
template <class T>
struct Silu {
  static T value(T z) { return z * Sigmoid<T>::value(z); }
  static T slope(T z, T) {
    const T s = Sigmoid<T>::value(z);
    return s * (T{1} + z * (T{1} - s));
  }
};

// log(1 + e^z) = max(z, 0) + log(1 + e^-|z|); the slope is σ(z).
template <class T>
struct Softplus {
  static T value(T z) { return (z > T{0} ? z : T{0}) + std::log1p(fast_exp(-std::abs(z))); }
  static T slope(T z, T) { return Sigmoid<T>::value(z); }
};

// max(z, 0)²; the slope is 2 max(z, 0).
template <class T>
struct SquaredRelu {
  static T value(T z) {
    const T y = Relu<T>::value(z);
    return y * y;
  }
  static T slope(T z, T) { return T{2} * Relu<T>::value(z); }
};

// Calls body with the functions of an activation other than `none`.
template <class T, class Body>
void with_activation(Activation activation, const Body& body) {
  switch (activation) {
    case Activation::relu:
      return body(Relu<T>{});
    case Activation::gelu:
      return body(Gelu<T>{});
    case Activation::gelu_tanh:
      return body(GeluTanh<T>{});
    case Activation::silu:
      return body(Silu<T>{});
    case Activation::tanh:
      return body(Tanh<T>{});
    case Activation::sigmoid:
      return body(Sigmoid<T>{});
    case Activation::softplus:
      return body(Softplus<T>{});
    case Activation::squared_relu:
      return body(SquaredRelu<T>{});
    case Activation::none:
      break;
  }
  fail<ValueError>("activation", "an activation other than none", to_string(activation));
}

// Returns true for activations whose slope is computed from z. For the others, y suffices.
inline bool slope_reads_input(Activation activation) {
  return activation == Activation::gelu || activation == Activation::gelu_tanh ||
         activation == Activation::silu || activation == Activation::softplus ||
         activation == Activation::squared_relu;
}

// Sets y = f(z) for n elements; `y` may be `z`.
template <class T>
void apply_activation(Activation activation, const T* z, T* y, Index n) {
  with_activation<T>(activation, [&](auto f) {
#pragma omp simd
    for (Index i = 0; i < n; ++i) y[i] = f.value(z[i]);
  });
}

// Sets y = f(z) and slope = f'(z) for n elements; computing both at once shares most of the work.
// `y` may be `z`.
template <class T>
void apply_activation(Activation activation, const T* z, T* y, T* slope, Index n) {
  with_activation<T>(activation, [&](auto f) {
#pragma omp simd
    for (Index i = 0; i < n; ++i) {
      const T x = z[i], value = f.value(x);
      y[i] = value;
      slope[i] = f.slope(x, value);
    }
  });
}

// Sets dz = dy f'(z) for n elements. Reads `z` if slope_reads_input(activation), and otherwise `y`.
template <class T>
void activation_gradient(Activation activation, const T* z, const T* y, const T* dy, T* dz,
                         Index n) {
  with_activation<T>(activation, [&](auto f) {
#pragma omp simd
    for (Index i = 0; i < n; ++i) dz[i] = dy[i] * f.slope(z[i], y[i]);
  });
}

}  // namespace weft
