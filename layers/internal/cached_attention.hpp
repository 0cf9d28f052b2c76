// cached_attention: attention to the keys and values of a cache.
// Included by definitions only.
#pragma once

#include "weft/layers/attention_pooling.hpp"
#include "weft/layers/key_value_cache.hpp"

namespace weft {

enum class CachedKeys {
  stored,  // query t sees the positions of its sequence, and the first t + 1 of those just stored
  all      // each query sees the positions of its sequence
};

// The result of `attention` for queries [num_sequences, time, num_heads · d] of the cache's
// sequences. Its heads of keys and values are each shared by as many adjacent heads of the queries.
template <class T>
Var<T> cached_attention(const AttentionPooling<T>& attention, const Var<T>& queries,
                        const CachedLayer<T>& layer, CachedKeys keys);

}  // namespace weft
