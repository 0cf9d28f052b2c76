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

// The address of a parameter, shared by all pointers to it. Places are never freed: when its
// parameter is destroyed, a place can be reused for another parameter, under a new number.
struct WEFT_API Place {
  void* parameter = nullptr;
  std::atomic<std::uint64_t> number{0};

  // Returns a free place, which now holds the address of `parameter`.
  static Place& take(void* parameter);
  void give_back() noexcept;
};

}  // namespace detail

// A trainable tensor and its gradient. The gradient is not part of the value: it is `mutable`, so a
// pass over a const model can add to it, and copies start without one. The shape is fixed at
// construction; only assigning another parameter changes it. Pointers to a parameter (see
// ParameterPointer) follow it when it is moved to a new object, for example when a vector grows. An
// assignment replaces the target's value; pointers to the target remain valid.
template <class T = float>
class WEFT_API Parameter {
 public:
  // Creates a parameter with an empty tensor.
  Parameter() : Parameter(Tensor<T>()) {}
  // Creates a parameter with this value and its shape, without a gradient.
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

  const Shape& shape() const { return value_.shape(); }  // the shape of value and gradient
  Index size() const { return value_.size(); }           // the number of elements

  const Tensor<T>& value() const { return value_; }  // the elements, of shape()
  // Replaces the value. Throws ShapeError unless `value` has the parameter's shape.
  void set_value(Tensor<T> value) {
    if (value.shape() != shape()) fail<ShapeError>("parameter: value", shape(), value.shape());
    value_ = std::move(value);
  }
  // Returns the elements, for writing. A pass that has already used the parameter keeps the old
  // elements. Use the span before the next pass begins.
  std::span<T> values() { return value_.values(); }
  // Returns one element, for writing. Throws ShapeError if there is no element at this position.
  template <class... Indices>
  T& operator()(Indices... indices) {
    return value_(indices...);
  }

  // Returns whether passes compute the gradient; true by default (see `freeze`).
  bool requires_grad() const { return requires_grad_ && !is_suspended_; }
  // Sets `requires_grad` and ends a suspension. If false, also clears the gradient, so that
  // optimizers leave the value unchanged. Must not be called during a pass that uses the parameter.
  void set_requires_grad(bool requires_grad) {
    requires_grad_ = requires_grad;
    is_suspended_ = false;
    if (!requires_grad) zero_grad();
  }
  // Makes `requires_grad` false until `resume_grad` is called, and clears the gradient.
  void suspend_grad() {
    is_suspended_ = true;
    zero_grad();
  }
  // Restores `requires_grad` to its value before `suspend_grad`.
  void resume_grad() { is_suspended_ = false; }

  // Returns true if a gradient has been added or set since `zero_grad`.
  bool has_grad() const { return !gradient_.empty(); }
  // Returns the sum of all gradients since `zero_grad`, in the parameter's shape; zeros if none
  // has been added.
  const Tensor<T> grad() const { return has_grad() ? gradient_.values() : Tensor<T>(shape()); }
  // Replaces the gradient. Throws ShapeError unless `grad` has the parameter's shape.
  void set_grad(const Tensor<T>& grad) {
    if (grad.shape() != shape()) fail<ShapeError>("parameter: gradient", shape(), grad.shape());
    gradient_.clear();
    gradient_.gradient(shape()).add([](T value) { return value; }, grad);
  }
  // Clears the gradient. This costs nothing: the next gradient overwrites the old one.
  void zero_grad() { gradient_.clear(); }

  // Returns the sum to which passes add gradients and from which optimizers read them.
  GradientAccumulator<T>& gradient_sum() const { return gradient_; }

 private:
  Tensor<T> value_;
  mutable GradientAccumulator<T> gradient_;
  bool requires_grad_ = true;
  bool is_suspended_ = false;
  detail::Place* place_ = nullptr;  // null after a move

  template <class P>
  friend class ParameterPointer;
};

// Prints the value, like any Tensor.
template <class T>
std::ostream& operator<<(std::ostream& out, const Parameter<T>& parameter) {
  return out << parameter.value();
}

// A pointer to a parameter P (Parameter<T> or const Parameter<T>) that remains valid when the
// parameter is moved and detects when it has been destroyed. Converts from and to P*.
template <class P>
class ParameterPointer {
 public:
  // Creates a pointer to a parameter, which may be null.
  ParameterPointer(P* parameter)
      : place_(parameter ? parameter->place_ : nullptr), number_(place_ ? current() : 0) {}

  // Returns true if the parameter exists: false for null and after the parameter was destroyed.
  bool exists() const { return place_ && current() == number_; }
  explicit operator bool() const { return place_ != nullptr; }  // false for null
  // Returns the parameter. Throws Error unless it exists.
  P* get() const {
    if (!exists())
      fail<Error>("pointer to a parameter", "an existing parameter",
                  place_ ? "a removed or replaced parameter" : "a null pointer");
    return static_cast<P*>(place_->parameter);
  }
  P& operator*() const { return *get(); }     // the parameter, see `get`
  P* operator->() const { return get(); }     // the parameter, see `get`
  operator P*() const { return get(); }       // the parameter, see `get`
  const void* key() const { return place_; }  // equal for pointers to the same parameter

 private:
  std::uint64_t current() const { return place_->number.load(std::memory_order_relaxed); }

  detail::Place* place_;
  std::uint64_t number_;
};

// A parameter and its full name in a model, such as "encoder.0.attention.W_q.weight".
template <class T = float, class P = Parameter<T>>
struct NamedParameter {
  std::string name;               // includes the names of the enclosing modules
  ParameterPointer<P> parameter;  // not null
};

// The parameters of a model, in the order in which its modules register them.
template <class T = float>
using NamedParameters = std::vector<NamedParameter<T>>;
// The parameters of a const model.
template <class T = float>
using NamedConstParameters = std::vector<NamedParameter<T, const Parameter<T>>>;

}  // namespace weft
