// Parameter: a trainable tensor and its gradient; ParameterPointer: a reference to one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/gradient.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

namespace detail {

// The address of a parameter, for all that refer to it. Places are never freed: after the end of
// its parameter, a place is taken by another one, under another number.
struct WEFT_API Place {
  void* parameter = nullptr;
  std::atomic<std::uint64_t> number{0};

  // A place that no parameter has.
  static Place& take(void* parameter);
  void give_back() noexcept;
};

}  // namespace detail

// A tensor of numbers that training changes, with its gradient. The gradient is not part of the
// value: it is `mutable`, a pass over a const model adds to it, and copies start without one. The
// shape stays that of construction, except by assignment of another parameter. Pointers to a
// parameter (see ParameterPointer) follow it when it is moved to a new object, a new element of a
// vector for instance; an assignment changes the values of the parameter that is assigned to.
template <class T = float>
class WEFT_API Parameter {
 public:
  Parameter() : Parameter(Tensor<T>()) {}
  // Of the value's shape, without a gradient.
  explicit Parameter(Tensor<T> value)
      : value_(std::move(value)), gradient_(shape()), place_(&detail::Place::take(this)) {}
  Parameter(const Parameter& other) : Parameter(other.value_) {
    requires_grad_ = other.requires_grad_;
    is_suspended_ = other.is_suspended_;
  }
  Parameter& operator=(const Parameter& other) {
    if (this != &other) *this = Parameter(other);
    return *this;
  }
  Parameter(Parameter&& other) noexcept { *this = std::move(other); }
  Parameter& operator=(Parameter&& other) noexcept {
    value_ = std::move(other.value_);
    gradient_ = std::move(other.gradient_);
    requires_grad_ = other.requires_grad_;
    is_suspended_ = other.is_suspended_;
    if (!place_ && other.place_) {
      place_ = std::exchange(other.place_, nullptr);
      place_->parameter = this;
    }
    return *this;
  }
  ~Parameter() {
    if (place_) place_->give_back();
  }

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

  // Whether passes compute its gradient; true unless set otherwise (see `freeze`).
  bool requires_grad() const { return requires_grad_ && !is_suspended_; }
  // See `requires_grad`. With false, clears the gradient: optimizers then keep the values. Must not
  // be called during a pass that uses the parameter. Ends a suspension.
  void set_requires_grad(bool requires_grad) {
    requires_grad_ = requires_grad;
    is_suspended_ = false;
    if (!requires_grad) zero_grad();
  }
  // Makes `requires_grad` false, clearing the gradient, until `resume_grad`.
  void suspend_grad() {
    is_suspended_ = true;
    zero_grad();
  }
  // Makes `requires_grad` what it was before `suspend_grad`.
  void resume_grad() { is_suspended_ = false; }

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
  bool is_suspended_ = false;
  detail::Place* place_ = nullptr;  // none after a move

  template <class P>
  friend class ParameterPointer;
};

// A pointer to a parameter P (Parameter<T> or const Parameter<T>) that stays valid when the
// parameter is moved, and knows when it was destroyed. Converts from and to P*.
template <class P>
class ParameterPointer {
 public:
  ParameterPointer(P* parameter)  // may be null
      : place_(parameter ? parameter->place_ : nullptr), number_(place_ ? current() : 0) {}

  // Whether there is a parameter: false for null and after the parameter was destroyed.
  bool exists() const { return place_ && current() == number_; }
  explicit operator bool() const { return place_ != nullptr; }  // false for null
  // The parameter. Throws Error unless it exists.
  P* get() const {
    if (!exists())
      fail<Error>("pointer to a parameter", "a parameter that exists",
                  place_ ? "one that was removed or replaced" : "a null pointer");
    return static_cast<P*>(place_->parameter);
  }
  P& operator*() const { return *get(); }     // see `get`
  P* operator->() const { return get(); }     // see `get`
  operator P*() const { return get(); }       // see `get`
  const void* key() const { return place_; }  // equal for pointers to the same parameter

 private:
  std::uint64_t current() const { return place_->number.load(std::memory_order_relaxed); }

  detail::Place* place_;
  std::uint64_t number_;
};

// A parameter under its full name in a model, such as "encoder.0.attention.W_q.weight".
template <class T = float, class P = Parameter<T>>
struct NamedParameter {
  std::string name;               // with the names of the modules around it
  ParameterPointer<P> parameter;  // not null
};

// The parameters of a model, in the order in which its modules register them.
template <class T = float>
using NamedParameters = std::vector<NamedParameter<T>>;
// The parameters of a const model.
template <class T = float>
using NamedConstParameters = std::vector<NamedParameter<T, const Parameter<T>>>;

}  // namespace weft
