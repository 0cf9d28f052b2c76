#include "weft/layers/sequential.hpp"

#include <string>

#include "autograd/internal/checks.hpp"

namespace weft {

template <class T>
Var<T> Sequential<T>::operator()(const Var<T>& x) const {
  Var<T> y = x;
  for (const AnyLayer<T>& part : parts_) y = part(y);
  return y;
}

template <class T>
void Sequential<T>::members(Members<T>& members) const {
  members.type("Sequential");
  for (std::size_t i = 0; i < parts_.size(); ++i) members(str_cat(i), parts_[i].module());
}

template <class T>
Module<T>& Sequential<T>::module(Index position) {
  if (position < 0 || position >= size())
    fail<ValueError>("Sequential: position", "an index from " + index_range(size()), position);
  return parts_[static_cast<std::size_t>(position)].module();
}

template class Sequential<float>;
template class Sequential<double>;

}  // namespace weft
