#include "weft/autograd/parameter.hpp"

#include <cstdint>

#include "weft/autograd/parallel.hpp"
#include "autograd/internal/bfloat16.hpp"

namespace weft {

template <class T>
void Parameter<T>::round_to_bf16() {
  Buffer rounded(static_cast<std::size_t>(size()) * sizeof(std::uint16_t));
  T* const from = value_.data();
  auto* const to = static_cast<std::uint16_t*>(rounded.data());
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
