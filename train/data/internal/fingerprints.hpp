// Adds options and data of data sources to their fingerprints.
#pragma once

#include <type_traits>

#include "weft/autograd/tensor.hpp"
#include "weft/train/data/batch_sampler.hpp"
#include "weft/train/data/fnv1a.hpp"

namespace weft {

inline void add(Fnv1a& fingerprint, const BatchOptions& options) {
  for (const Index number : {options.batch_size, options.bucket_batches, Index{options.shuffle}})
    fingerprint.add(std::int64_t{number});
  fingerprint.add(static_cast<std::int64_t>(options.seed));
}

// The shape and the bytes of the elements.
template <class E>
void add(Fnv1a& fingerprint, const Tensor<E>& tensor) {
  for (Index axis = 0; axis < tensor.rank(); ++axis) fingerprint.add(tensor.shape()[axis]);
  fingerprint.add(std::string_view(reinterpret_cast<const char*>(tensor.data()),
                                   static_cast<std::size_t>(tensor.size()) * sizeof(E)));
}

}  // namespace weft
