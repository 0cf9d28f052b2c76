// ParameterElements: the elements of all parameters as one sequence, for loops over all of them.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/parallel.hpp"
#include "weft/autograd/parameter.hpp"

namespace weft {

// The parameters must outlive the object and must not be moved.
template <class T>
class WEFT_API ParameterElements {
 public:
  explicit ParameterElements(NamedParameters<T> parameters) : parameters_(std::move(parameters)) {
    for (const auto& [name, parameter] : parameters_) {
      shapes_.push_back(parameter->shape());
      ends_.push_back(size() + parameter->size());
    }
  }

  const NamedParameters<T>& parameters() const { return parameters_; }
  // The number of elements of all parameters together.
  Index size() const { return ends_.empty() ? 0 : ends_.back(); }

  // To be called before threads write to values and gradients: gives each parameter memory of its
  // own. Throws ShapeError, naming `what` and the parameter, when a parameter or its gradient does
  // not have the shape that the parameter had at construction.
  void prepare(const std::string& what) const {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const auto& [name, parameter] = parameters_[i];
      const auto check = [&](const char* kind, const Shape& shape) {
        if (shape != shapes_[i])
          fail<ShapeError>(concatenate_text(what, ": ", kind, name), shapes_[i], shape);
      };
      check("parameter ", parameter->shape());
      parameter->values();
      if (GradientSum<T>& gradient = parameter->gradient_sum(); !gradient.empty()) {
        check("gradient of ", gradient.values().shape());
        gradient.data();
      }
    }
  }

  // Calls body(i, begin, end) for each part of elements first … last that lies in one parameter:
  // elements begin … end of parameter i.
  template <class Body>
  void for_each_part(Index first, Index last, const Body& body) const {
    auto parameter = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), first) -
                                              ends_.begin());
    for (; first < last; ++parameter) {
      const Index start = ends_[parameter] - shapes_[parameter].elements();
      const Index end = std::min(last, ends_[parameter]);
      if (end > first) body(parameter, first - start, end - start);
      first = end;
    }
  }

 private:
  NamedParameters<T> parameters_;
  std::vector<Shape> shapes_;
  std::vector<Index> ends_;  // where each parameter's elements end in the sequence
};

}  // namespace weft
