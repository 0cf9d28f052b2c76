#include "weft/autograd/parameter.hpp"

#include "weft/autograd/parallel.hpp"
#include "autograd/internal/bfloat16.hpp"

namespace weft {

template <class T>
void Parameter<T>::round_to_bf16() {
  Tensor<std::uint16_t> rounded = Tensor<std::uint16_t>::uninitialized(shape());
  T* const from = value_.data();
  std::uint16_t* const to = rounded.data();
  parallel_for(size(), grain_of(4), [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      to[i] = bfloat16_of(static_cast<float>(from[i]));
      from[i] = static_cast<T>(float_of_bfloat16(to[i]));
    }
  });
  bf16_ = std::move(rounded);
}

template class Parameter<float>;
template class Parameter<double>;

}  // namespace weft
