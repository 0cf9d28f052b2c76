// Parameter: a trainable tensor and its gradient.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/gradient.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

// A tensor of numbers that training changes, with its gradient. The gradient is not part of the
// value: it is `mutable`, a pass over a const model adds to it, and copies start without one. The
// shape stays that of construction, except by assignment of another parameter.
template <class T = float>
class WEFT_API Parameter {
 public:
  Parameter() = default;
  // Of the value's shape, without a gradient.
  explicit Parameter(Tensor<T> value) : value_(std::move(value)), gradient_(shape()) {}
  Parameter(const Parameter& other) : Parameter(other.value_) {
    requires_grad_ = other.requires_grad_;
  }
  Parameter& operator=(const Parameter& other) {
    if (this != &other) *this = Parameter(other);
    return *this;
  }
  Parameter(Parameter&&) noexcept = default;
  Parameter& operator=(Parameter&&) noexcept = default;
  ~Parameter() = default;

  const Shape& shape() const { return value_.shape(); }  // of value and gradient
  Index size() const { return value_.size(); }           // the number of elements

  const Tensor<T>& value() const { return value_; }  // of shape()
  // Replaces all elements. Throws ShapeError unless `value` has the parameter's shape.
  void set_value(Tensor<T> value) {
    if (value.shape() != shape()) fail<ShapeError>("parameter: value", shape(), value.shape());
    value_ = std::move(value);
  }
  // The elements, for writing. A pass that has used the parameter keeps the elements that it used;
  // the span is to be used before the next pass.
  std::span<T> values() { return value_.values(); }
  // One element, for writing. Throws ShapeError when there is none at the position.
  template <class... Indices>
  T& operator()(Indices... indices) {
    return value_(indices...);
  }

  // Whether passes compute its gradient; true unless set otherwise (see `freeze`). Must not be set
  // during a pass that uses the parameter.
  bool requires_grad() const { return requires_grad_; }
  // See `requires_grad`.
  void set_requires_grad(bool requires_grad) { requires_grad_ = requires_grad; }

  // True when a backward added to the gradient since `zero_grad`.
  bool has_grad() const { return !gradient_.empty(); }
  // The sum of all gradients since `zero_grad`, of the parameter's shape; zeros when there were
  // none.
  const Tensor<T> grad() const { return has_grad() ? gradient_.values() : Tensor<T>(shape()); }
  // Replaces the gradient. Throws ShapeError unless it has the parameter's shape.
  void set_grad(const Tensor<T>& grad) {
    if (grad.shape() != shape()) fail<ShapeError>("parameter: gradient", shape(), grad.shape());
    gradient_.clear();
    gradient_.gradient(shape()).add([](T value) { return value; }, grad);
  }
  // Costs nothing: the next gradient overwrites the old one.
  void zero_grad() { gradient_.clear(); }

  // Where passes add gradients and optimizers read them.
  GradientSum<T>& gradient_sum() const { return gradient_; }

 private:
  Tensor<T> value_;
  mutable GradientSum<T> gradient_;
  bool requires_grad_ = true;
};

// A parameter under its full name in a model, such as "encoder.0.attention.W_q.weight".
template <class T = float, class P = Parameter<T>>
struct NamedParameter {
  std::string name;  // with the names of the modules around it
  P* parameter;      // not null
};

// The parameters of a model, in the order in which its modules register them.
template <class T = float>
using NamedParameters = std::vector<NamedParameter<T>>;
// The parameters of a const model.
template <class T = float>
using NamedConstParameters = std::vector<NamedParameter<T, const Parameter<T>>>;

}  // namespace weft
