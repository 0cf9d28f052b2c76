// KeyValueCache: the keys and values of attention at earlier positions, for decoding step by step.
#pragma once

#include <span>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

struct KeyValueCacheOptions {
  // The number of attention layers of a decoder.
  Index num_layers = 1;
  Index num_heads = 1;  // of keys and values
  Index head_size = 0;  // of keys and values, > 0
  // The number of positions that there is memory for at first; it grows as needed.
  Index capacity = 16;
};

// The keys and values of a batch of sequences, in every layer of a decoder, so that a step computes
// those of the new positions only. Sequences may have different lengths, and share their memory
// until one of them is extended.
//
// Models and layers fill it (Gpt::extend, TransformerDecoder::extend, MultiHeadAttention::extend);
// a program chooses the sequences. It is used with tapes that do not record.
//   KeyValueCache cache = gpt.make_cache(1);
//   Var states = gpt.extend(tape, prompt, cache);  // prompt [1, 7]; then one token at a time
template <class T = float>
class WEFT_API KeyValueCache {
 public:
  // `num_sequences` sequences without positions. Throws ValueError for a number below 0 or beyond
  // memory, for sizes and a capacity that are not > 0, and for 2³¹ or more elements of a position.
  explicit KeyValueCache(const KeyValueCacheOptions& options, Index num_sequences = 0);

  const KeyValueCacheOptions& options() const { return options_; }  // those it was made with
  Index num_sequences() const { return static_cast<Index>(sequences_.size()); }  // in the batch
  // The number of positions of a sequence. Throws ValueError unless 0 ≤ sequence < num_sequences.
  Index length(Index sequence) const;
  // The positions of the longest sequence; 0 when there is none.
  Index largest_length() const { return largest(&Sequence::length); }
  // The positions of the `time` next tokens of each sequence, [num_sequences, time], in memory of
  // the pass.
  Tokens next_positions(const Tape<T>& tape, Index time) const;

  // Sequence i becomes what sequence indices[i] was, for as many sequences as indices: reorders,
  // repeats and drops sequences, without copying their elements. Throws ValueError, and leaves the
  // cache as it was, unless each index is 0 … num_sequences - 1.
  //   cache.reorder(std::vector<Index>{0, 0, 2});  // the first twice, the second dropped
  void reorder(std::span<const Index> indices);
  // Adds the sequences of another cache with the same sizes after those of this one. Throws
  // ValueError for other sizes.
  void append(const KeyValueCache& other);
  // Replaces a sequence by one of another cache with the same sizes. Throws ValueError for other
  // sizes, and for a sequence that one of the caches does not have.
  void replace(Index sequence, const KeyValueCache& other, Index other_sequence);
  // Forgets the positions of a sequence from `length` on. Throws ValueError unless
  // 0 ≤ length ≤ its length.
  void truncate(Index sequence, Index length);

  // For layers: stores the keys and values of new positions [num_sequences, time, num_heads ·
  // head_size] in a layer, after the positions of each sequence. They become positions of the
  // sequences with `advance`, when every layer has stored its own. Throws ShapeError, ValueError
  // for a layer that there is not, and Error for a tape that records.
  void store(Index layer, const Var<T>& keys, const Var<T>& values);
  // Adds `time` stored positions to each sequence, or times[i] to sequence i: fewer than were
  // stored where these were padded. Throws ValueError for more than were stored.
  void advance(Index time);
  void advance(std::span<const Index> times);

  // For layers: the stored keys of a head, one row of key_stride() elements for each position,
  // those beyond head_size zeros.
  const T* keys(Index layer, Index sequence, Index head) const;
  // For layers: the stored values of a head, transposed: row c, of value_stride() elements, has
  // channel c of all positions, and zeros beyond the stored ones.
  const T* values(Index layer, Index sequence, Index head) const;
  Index key_stride() const;  // in elements, a multiple of 16
  // In elements, a multiple of 16. Throws ValueError for a sequence that there is not.
  Index value_stride(Index sequence) const { return at(sequence).capacity; }
  // The largest number of positions that a sequence has memory for, a multiple of 16.
  Index max_capacity() const { return largest(&Sequence::capacity); }

 private:
  struct Sequence {
    Tensor<T> elements;  // [num_layers, 2, num_heads, key_stride · capacity]
    Index capacity = 0;
    Index length = 0;
    Index stored = 0;  // beyond the length
  };

  const Sequence& at(Index sequence) const;
  // The largest value of a member, 0 without sequences.
  Index largest(Index Sequence::*member) const;
  Index offset(Index layer, bool is_value, Index head, Index capacity) const;
  void check_same_sizes(const KeyValueCache& other) const;
  void reserve(Sequence& sequence, Index positions) const;
  void clear_values(Sequence& sequence, Index begin, Index end) const;
  void advance(Sequence& sequence, Index time) const;

  KeyValueCacheOptions options_;
  std::vector<Sequence> sequences_, selected_;
  std::vector<T*> elements_;  // of each sequence, while its positions are stored
};

// A layer of a cache: what an attention layer reads and writes.
template <class T = float>
struct CachedLayer {
  KeyValueCache<T>& cache;  // of all layers
  Index index = 0;          // of the layer, from 0
};

extern template class KeyValueCache<float>;
extern template class KeyValueCache<double>;

}  // namespace weft
