// Parameter: a trainable tensor and its gradient.
#pragma once

#include <string>
#include <vector>

#include "autograd/tensor.hpp"

namespace weft {

// Copying a parameter copies its elements, so that a copied model is a model of its own. The
// gradient is scratch space of training, not part of the value: a pass over a const model fills it.
template <class T = float>
class Parameter {
 public:
  Parameter() = default;
  // Copies the elements unless no other tensor shares them.
  explicit Parameter(Tensor<T> value) : value_(value.unique() ? std::move(value) : value.clone()) {}
  Parameter(const Parameter& other) : value_(other.value_.clone()) {}
  Parameter& operator=(const Parameter& other) {
    if (this != &other) *this = Parameter(other);
    return *this;
  }
  Parameter(Parameter&&) noexcept = default;
  Parameter& operator=(Parameter&&) noexcept = default;
  ~Parameter() = default;

  const Shape& shape() const { return value_.shape(); }
  Index size() const { return value_.size(); }

  Tensor<T>& value() { return value_; }
  const Tensor<T>& value() const { return value_; }

  // The sum of all gradients since `zero_grad`, of the parameter's shape.
  Tensor<T>& grad() const {
    if (!has_grad_) {
      if (grad_.shape() != shape()) grad_ = Tensor<T>::uninitialized(shape());
      grad_.fill(T{0});
      has_grad_ = true;
    }
    return grad_;
  }
  // False when nothing was added since `zero_grad`; `grad()` is then zeros.
  bool has_grad() const { return has_grad_; }
  // Costs nothing: the next gradient overwrites the old one.
  void zero_grad() const { has_grad_ = false; }

  // The gradient's memory for a first write that covers all of it.
  Tensor<T>& grad_to_overwrite() const {
    if (grad_.shape() != shape()) grad_ = Tensor<T>::uninitialized(shape());
    has_grad_ = true;
    return grad_;
  }

 private:
  Tensor<T> value_;
  mutable Tensor<T> grad_;
  mutable bool has_grad_ = false;
};

// A parameter under its full name in a model, such as "encoder.0.attention.W_q.weight".
template <class T = float>
struct NamedParameter {
  std::string name;
  Parameter<T>* parameter;
};

template <class T = float>
using NamedParameters = std::vector<NamedParameter<T>>;

}  // namespace weft
