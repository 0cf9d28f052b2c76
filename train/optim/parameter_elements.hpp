// ParameterElements: the elements of all parameters as one sequence, for loops over all of them.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/parallel.hpp"
#include "weft/autograd/parameter.hpp"

namespace weft {

// Consecutive elements of a parameter, which is given by its number among several.
struct ElementSlice {
  std::size_t parameter = 0;  // its number
  Index begin = 0;            // the first element
  Index end = 0;              // behind the last element

  Index size() const { return end - begin; }  // the number of elements
  // Equal members.
  bool operator==(const ElementSlice&) const = default;
};

// The elements of several slices as one sequence.
class ElementSequence {
 public:
  // Adds the elements of a slice after the others.
  void add(const ElementSlice& slice) {
    slices_.push_back(slice);
    ends_.push_back(size() + slice.size());
  }
  const std::vector<ElementSlice>& slices() const { return slices_; }  // as they were added
  Index size() const { return ends_.empty() ? 0 : ends_.back(); }      // the number of elements

  // Calls body(i, begin, end) for each part of elements first … last that lies in one slice:
  // elements begin … end of the parameter of slice i.
  template <class Body>
  void for_each_part(Index first, Index last, const Body& body) const {
    auto i = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), first) -
                                      ends_.begin());
    for (; first < last; ++i) {
      const Index end = std::min(last, ends_[i]);
      const Index to_parameter = slices_[i].end - ends_[i];
      if (end > first) body(i, first + to_parameter, end + to_parameter);
      first = end;
    }
  }

 private:
  std::vector<ElementSlice> slices_;
  std::vector<Index> ends_;  // where each slice ends in the sequence
};

// The elements of several parameters as one sequence, divided into ranges. Follows parameters that
// are moved.
template <class T>
class WEFT_API ParameterElements {
 public:
  // A parameter that is given several times counts once, under its first name. Throws Error for a
  // null pointer and for a parameter that no longer exists.
  explicit ParameterElements(NamedParameters<T> parameters);

  const NamedParameters<T>& parameters() const { return parameters_; }  // each once
  // Each parameter as one slice.
  const ElementSequence& sequence() const { return sequence_; }
  Index size() const { return sequence_.size(); }  // the number of elements
  // The shape of parameter i at construction.
  const Shape& shape(std::size_t i) const { return shapes_[i]; }

  // Throws Error, naming `what` and the parameter, when a parameter no longer exists: it was
  // removed or replaced.
  void check_exist(const std::string& what) const;
  // Throws the same exceptions as `check_exist`, and ShapeError, naming `what` and the parameter,
  // if the shape of a parameter or its gradient differs from the parameter's shape at construction.
  void check_shapes(const std::string& what) const;
  // To be called before threads write to values and gradients: checks the shapes, and gives each
  // parameter memory of its own.
  void prepare(const std::string& what) const;

  // The elements are divided into ranges that depend on their number only: sums over all elements
  // add one sum per range, and of several processes each owns whole ranges.
  static constexpr Index most_ranges = 256;
  // At most most_ranges.
  Index num_ranges() const { return (size() + range_size() - 1) / range_size(); }
  // The first element of a range; `size()` for `num_ranges()`.
  Index range_begin(Index range) const { return std::min(range * range_size(), size()); }

  // Calls body(i, begin, end) for each part of elements first … last that lies in one parameter:
  // elements begin … end of parameter i.
  template <class Body>
  void for_each_part(Index first, Index last, const Body& body) const {
    sequence_.for_each_part(first, last, body);
  }
  // The same for all elements, in parallel.
  template <class Body>
  void for_each_part(const Body& body) const {
    parallel_for(size(), grain_of(1),
                 [&](Index first, Index last) { for_each_part(first, last, body); });
  }
  // Calls body(i, begin, end, position) for the parts of a range, where `position` is that of
  // element `begin` among all elements.
  template <class Body>
  void for_each_part_of(Index range, const Body& body) const {
    Index position = range_begin(range);
    for_each_part(position, range_begin(range + 1), [&](std::size_t i, Index begin, Index end) {
      body(i, begin, end, position);
      position += end - begin;
    });
  }

 private:
  Index range_size() const {
    return std::max<Index>(grain_of(1), (size() + most_ranges - 1) / most_ranges);
  }

  NamedParameters<T> parameters_;
  std::vector<Shape> shapes_;
  ElementSequence sequence_;
};

extern template class ParameterElements<float>;
extern template class ParameterElements<double>;

}  // namespace weft
