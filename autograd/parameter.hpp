// Parameter: a trainable tensor and its gradient.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/autograd/tensor.hpp"

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
  //
  // Parts of a batch that are computed at the same time, each on a tape of its own, add to sums of
  // their own: part 0 to the parameter's gradient, the others to what `reserve_parts` made room
  // for and `add_up_parts` adds to it.
  Tensor<T>& grad(Index part = 0) const { return sum(part).read(shape()); }
  // False when nothing was added since `zero_grad`; `grad()` is then zeros.
  bool has_grad(Index part = 0) const { return sum(part).any; }
  // Costs nothing: the next gradient overwrites the old one.
  void zero_grad() const { grad_.any = false; }
  // The gradient's memory for a first write that covers all of it.
  Tensor<T>& grad_to_overwrite(Index part = 0) const { return sum(part).overwrite(shape()); }

  // Makes room for the gradients of parts 1 … parts - 1, with nothing in them.
  void reserve_parts(Index parts) const {
    further_.resize(static_cast<std::size_t>(parts - 1));
    for (Sum& sum : further_) sum.any = false;
  }
  // Adds elements begin … end of the further parts to the gradient, which must be there, in order.
  void add_up_parts(Index begin, Index end) const {
    for (const Sum& sum : further_)
      if (sum.any)
        std::transform(grad_.values.data() + begin, grad_.values.data() + end,
                       sum.values.data() + begin, grad_.values.data() + begin, std::plus<T>());
  }

 private:
  // Gradients added up; `values` hold anything unless there were any.
  struct Sum {
    Tensor<T> values;
    bool any = false;

    Tensor<T>& overwrite(const Shape& shape) {
      if (values.shape() != shape) values = Tensor<T>::uninitialized(shape);
      any = true;
      return values;
    }
    Tensor<T>& read(const Shape& shape) {
      if (!any) overwrite(shape).fill(T{0});
      return values;
    }
  };
  Sum& sum(Index part) const {
    if (part == 0) return grad_;
    const auto further = static_cast<std::size_t>(part - 1);
    if (further >= further_.size())
      fail<Error>("parameter: gradient", "a part that was reserved", part);
    return further_[further];
  }

  Tensor<T> value_;
  mutable Sum grad_;
  mutable std::vector<Sum> further_;
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
