// Gradient, GradientSum and GradientTarget: where backward adds gradients.
#pragma once

#include <algorithm>
#include <span>

#include "weft/autograd/error.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/parallel.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

// The gradient of one input of an operation, for the operation's backward to add to. False when the
// input needs none. When `fresh`, nothing has been added yet: `values` are uninitialized, and the
// first write must cover all of them and overwrite.
template <class T>
struct WEFT_API Gradient {
  std::span<T> values = {};  // of as many elements as the input
  bool wanted = false;       // whether the input needs a gradient
  bool fresh = false;        // whether nothing has been added yet

  explicit operator bool() const { return wanted; }  // `wanted`
  T* data() const { return values.data(); }          // the first of the values
  // The factor of the old values in `c = a · b + beta · c`: 0 when fresh.
  T beta() const { return fresh ? T{0} : T{1}; }
  // For a backward that adds to some elements only: sets fresh values to 0.
  Gradient& zero_if_fresh() {
    if (fresh) std::fill(values.begin(), values.end(), T{0});
    fresh = false;
    return *this;
  }

  // Adds f(inputs[i]...) to element i, in parallel. Throws ShapeError unless the tensors have as
  // many elements as the gradient.
  template <class Function, class... Inputs>
  void add(const Function& f, const Inputs&... inputs) const {
    if (!wanted) return;
    const Index size = std::ssize(values);
    const auto check = [size](const auto& input) {
      if (input.size() != size)
        fail<ShapeError>("function of elements", concatenate_text(size, " elements"),
                         input.shape());
    };
    (check(inputs), ...);
    parallel_for(size, grain_of(4), [&](Index begin, Index end) {
      T* to = data();
      if (fresh)
        for (Index i = begin; i < end; ++i) to[i] = f(inputs.data()[i]...);
      else
        for (Index i = begin; i < end; ++i) to[i] += f(inputs.data()[i]...);
    });
  }
};

// The sum of gradients of one shape, the parameter's. Clearing it costs nothing: the next gradient
// overwrites.
template <class T>
class WEFT_API GradientSum {
 public:
  GradientSum() = default;
  explicit GradientSum(const Shape& shape) : shape_(shape) {}  // empty

  // True when nothing was added since the sum was cleared.
  bool empty() const { return empty_; }
  void clear() { empty_ = true; }  // makes the sum empty
  // The sum; uninitialized when empty.
  const Tensor<T>& values() const { return values_; }
  T* data() { return values_.data(); }  // the elements of `values`, for writing

  // Makes the sum non-empty and returns where to add a gradient of `shape`. Throws ShapeError when
  // that is another shape, that of a parameter which has been replaced since.
  Gradient<T> gradient(const Shape& shape) {
    if (shape != shape_) fail<ShapeError>("gradient of a parameter", shape_, shape);
    const bool fresh = empty_;
    if (fresh && (values_.shape() != shape || values_.shared()))
      values_ = Tensor<T>::uninitialized(shape);
    empty_ = false;
    return {values_.values(), true, fresh};
  }

 private:
  Shape shape_{0};
  Tensor<T> values_;
  bool empty_ = true;
};

template <class T>
class Parameter;

// Where backward adds the gradients of parameters, when not to the parameters themselves.
template <class T>
class WEFT_API GradientTarget {
 public:
  virtual ~GradientTarget() = default;
  // The pass uses a parameter, of any shape: the sum that backward adds the gradient of this use
  // to.
  virtual GradientSum<T>& use(const Parameter<T>& parameter) = 0;
  // Backward has passed a use of a parameter, of any shape, and adds nothing more for it. Of each
  // use in a part that is computed again (see `recompute`) one is never passed.
  virtual void passed(const Parameter<T>& parameter) = 0;
};

}  // namespace weft
