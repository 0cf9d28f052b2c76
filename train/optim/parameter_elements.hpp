// ParameterElements: the elements of all parameters as one sequence, for loops over all of them.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/parallel.hpp"
#include "weft/autograd/parameter.hpp"

namespace weft {

// Elements [begin, end) of a parameter, which is identified by its index.
struct ElementSlice {
  std::size_t parameter = 0;  // index of the parameter
  Index begin = 0;            // first element
  Index end = 0;              // one past the last element

  Index size() const { return end - begin; }  // number of elements
  // Compares all members.
  bool operator==(const ElementSlice&) const = default;
};

// The elements of several slices as one sequence.
class ElementSequence {
 public:
  // Appends the elements of a slice.
  void add(const ElementSlice& slice) {
    slices_.push_back(slice);
    ends_.push_back(size() + slice.size());
  }
  const std::vector<ElementSlice>& slices() const { return slices_; }  // in the order of adding
  Index size() const { return ends_.empty() ? 0 : ends_.back(); }      // number of elements

  // Splits elements [first, last) of the sequence by slice, and calls body(i, begin, end) for each
  // piece: elements [begin, end) of the parameter of slice i.
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

// The elements of several parameters as one sequence, divided into ranges. The model may be moved.
template <class T>
class WEFT_API ParameterElements {
 public:
  // Selects parameters by name and shape.
  using Selects = std::function<bool(const std::string& name, const Shape& shape)>;

  // A parameter that is passed several times is contained once, with its first name. No range
  // contains only a part of a parameter that `is_undivided` selects (none if not set). Throws Error
  // for a null pointer and for a parameter that no longer exists.
  explicit ParameterElements(NamedParameters<T> parameters, const Selects& is_undivided = {});

  const NamedParameters<T>& parameters() const { return parameters_; }  // each parameter once
  // Returns the sequence of all elements, one slice per parameter.
  const ElementSequence& sequence() const { return sequence_; }
  Index size() const { return sequence_.size(); }  // number of elements
  // Returns the shape of parameter i at construction.
  const Shape& shape(std::size_t i) const { return shapes_[i]; }
  // Returns whether each range contains all or none of the elements of parameter i.
  bool is_undivided(std::size_t i) const { return undivided_[i]; }

  // Throws Error, naming `what` and the parameter, if a parameter was removed or replaced.
  void check_exist(const std::string& what) const;
  // Throws the same exceptions as `check_exist`, and ShapeError, naming `what` and the parameter,
  // if the shape of a parameter or its gradient differs from the parameter's shape at construction.
  void check_shapes(const std::string& what) const;
  // Call before threads write to gradients, and to the values of parameters that have gradients.
  // Checks the shapes, and copies those that share memory with other tensors. Throws the same
  // exceptions as `check_shapes`.
  void prepare(const std::string& what) const;

  // The maximum number of ranges. The division into ranges depends only on the parameters. Sums
  // over all elements add one sum per range, and each of several processes owns whole ranges.
  static constexpr Index most_ranges = 256;
  // Returns the number of ranges, at most most_ranges.
  Index num_ranges() const { return std::ssize(range_begins_) - 1; }
  // Returns the first element of a range; `size()` for range `num_ranges()`.
  Index range_begin(Index range) const { return range_begins_[static_cast<std::size_t>(range)]; }

  // Splits elements [first, last) of the sequence by parameter, and calls body(i, begin, end) for
  // each piece: elements [begin, end) of parameter i.
  template <class Body>
  void for_each_part(Index first, Index last, const Body& body) const {
    sequence_.for_each_part(first, last, body);
  }
  // Calls body(i, begin, end) in parallel for pieces that cover all elements: elements [begin, end)
  // of parameter i.
  template <class Body>
  void for_each_part(const Body& body) const {
    parallel_for(size(), grain_of(1),
                 [&](Index first, Index last) { for_each_part(first, last, body); });
  }
  // Calls body(i, begin, end, position) for each piece of a range: elements [begin, end) of
  // parameter i, where `position` is the position of element `begin` among all elements.
  template <class Body>
  void for_each_part_of(Index range, const Body& body) const {
    Index position = range_begin(range);
    for_each_part(position, range_begin(range + 1), [&](std::size_t i, Index begin, Index end) {
      body(i, begin, end, position);
      position += end - begin;
    });
  }

 private:
  void divide();

  NamedParameters<T> parameters_;
  std::vector<Shape> shapes_;
  std::vector<bool> undivided_;  // one for each parameter
  ElementSequence sequence_;
  std::vector<Index> range_begins_;  // and the number of elements
};

extern template class ParameterElements<float>;
extern template class ParameterElements<double>;

}  // namespace weft
