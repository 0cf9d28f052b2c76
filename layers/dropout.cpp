#include "weft/layers/dropout.hpp"

#include "weft/autograd/ops/dropout.hpp"
#include "layers/internal/python_text.hpp"

namespace weft {

template <class T>
Dropout<T>::Dropout(double probability) : p(probability) {
  if (!(p >= 0 && p <= 1)) fail<ValueError>("Dropout: p", "a probability from 0 to 1", p);
}

template <class T>
Var<T> Dropout<T>::operator()(const Var<T>& x) const {
  return dropout(x, p);
}

template <class T>
void Dropout<T>::members(Members<T>& members) const {
  members.type("Dropout", "p=" + python_text(p) + ", inplace=False");
}

template struct Dropout<float>;
template struct Dropout<double>;

}  // namespace weft
