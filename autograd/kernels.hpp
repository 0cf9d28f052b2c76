// What operations are written with: Eigen maps on ranges of elements and rows.
// Included by definitions only, never by another header of weft.
#pragma once

#include <Eigen/Core>

#include "autograd/parallel.hpp"
#include "autograd/tape.hpp"

namespace weft {

template <class T>
using Array = Eigen::Map<Eigen::Array<std::remove_const_t<T>, Eigen::Dynamic, 1>>;
template <class T>
using ConstArray = Eigen::Map<const Eigen::Array<std::remove_const_t<T>, Eigen::Dynamic, 1>>;

// Elements begin … end as an Eigen array.
template <class T>
Array<T> array(T* data, Index begin, Index end) {
  return {data + begin, end - begin};
}
template <class T>
ConstArray<T> array(const T* data, Index begin, Index end) {
  return {data + begin, end - begin};
}
template <class T>
Array<T> array(Tensor<T>& tensor, Index begin, Index end) {
  return array(tensor.data(), begin, end);
}
template <class T>
ConstArray<T> array(const Tensor<T>& tensor, Index begin, Index end) {
  return array(tensor.data(), begin, end);
}

// Adds an Eigen expression to elements begin … end of a gradient, or writes it when fresh.
template <class T, class Expression>
void accumulate(const Gradient<T>& gradient, Index begin, Index end, const Expression& expression) {
  if (gradient.fresh)
    array(gradient.data(), begin, end) = expression;
  else
    array(gradient.data(), begin, end) += expression;
}

}  // namespace weft
