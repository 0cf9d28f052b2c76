// Gradient, GradientAccumulator and GradientTarget: where backward adds gradients.
#pragma once

#include <algorithm>
#include <span>

#include "weft/autograd/error.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/parallel.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

// The gradient of one input of an operation, to which the operation's backward function adds. It
// converts to false if the input needs no gradient. If `fresh`, nothing has been added yet:
// `values` are uninitialized, and the first write must overwrite all of them.
template <class T>
struct WEFT_API Gradient {
  std::span<T> values = {};  // one for each element of the input
  bool wanted = false;       // whether the input needs a gradient
  bool fresh = false;        // whether nothing has been added yet

  explicit operator bool() const { return wanted; }  // whether the input needs a gradient
  T* data() const { return values.data(); }          // pointer to the first value
  // The factor of the old values in `c = a · b + beta · c`: 0 if fresh, otherwise 1.
  T beta() const { return fresh ? T{0} : T{1}; }
  // Sets fresh values to 0. For backward functions that add to some of the elements only.
  Gradient& zero_if_fresh() {
    if (fresh) std::fill(values.begin(), values.end(), T{0});
    fresh = false;
    return *this;
  }

  // Adds f(inputs[i]...) to element i, in parallel; does nothing if the input needs no gradient.
  // Throws ShapeError unless each tensor has as many elements as the gradient.
  template <class Function, class... Inputs>
  void add(const Function& f, const Inputs&... inputs) const {
    if (!wanted) return;
    const Index size = std::ssize(values);
    const auto check = [size](const auto& input) {
      if (input.size() != size)
        fail<ShapeError>("element-wise function", str_cat("inputs of ", size, " elements"),
                         input.shape());
    };
    (check(inputs), ...);
    parallel_for(size, grain_of(4), [&](Index begin, Index end) {
      const auto add_elements = [&, to = data()](const auto*... from) {
        if (fresh)
          for (Index i = begin; i < end; ++i) to[i] = f(from[i]...);
        else
          for (Index i = begin; i < end; ++i) to[i] += f(from[i]...);
      };
      add_elements(inputs.data()...);
    });
  }
};

// A sum of gradients of one shape, for example a parameter's. Clearing it costs nothing: the next
// gradient overwrites the old values.
template <class T>
class WEFT_API GradientAccumulator {
 public:
  GradientAccumulator() = default;
  explicit GradientAccumulator(const Shape& shape) : shape_(shape) {}  // an empty sum

  // Returns true if nothing has been added since the sum was created or cleared.
  bool empty() const { return empty_; }
  void clear() { empty_ = true; }  // makes the sum empty
  // The sum, of the shape of its gradients; uninitialized if empty.
  const Tensor<T>& values() const { return values_; }
  T* data() { return values_.data(); }  // the elements of `values`, for writing

  // Makes the sum non-empty and returns the place to add a gradient of `shape`. Throws ShapeError
  // if the sum has another shape, because the parameter has been replaced in the meantime.
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
class WEFT_API Parameter;

// Receives the gradients of parameters, which backward otherwise adds to the parameters themselves.
// See Tape::set_gradient_target.
template <class T>
class WEFT_API GradientTarget {
 public:
  virtual ~GradientTarget() = default;
  // Called when a pass uses a parameter, of any shape. Returns the sum to which backward adds the
  // gradient of this use.
  virtual GradientAccumulator<T>& use(const Parameter<T>& parameter) = 0;
  // Called when backward will add nothing more to the gradient of one use of a parameter, of any
  // shape. Not called with BackwardOptions::retain_graph or by Tape::gradients. A recomputed part
  // of a model (see `recompute`) calls `use` twice for each of its uses, in forward and in
  // backward, but `passed` only once.
  virtual void passed(const Parameter<T>& parameter) = 0;
};

}  // namespace weft
