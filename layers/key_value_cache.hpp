// KeyValueCache: stores the attention keys and values of earlier positions, for decoding step by
// step.
#pragma once

#include <span>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

struct KeyValueCacheOptions {
  // The number of attention layers of the decoder.
  Index num_layers = 1;
  Index num_heads = 1;  // the number of key and value heads
  Index head_size = 0;  // the size of a key or value head, > 0
  // The number of positions for which memory is allocated at first; it grows as needed.
  Index capacity = 16;
};

// The keys and values of a batch of sequences in every layer of a decoder, so that each step
// computes only the keys and values of new positions. Sequences may have different lengths. Copies
// of a sequence share memory until one of them is extended.
//
// Models and layers fill the cache (Gpt::extend, TransformerDecoder::extend,
// MultiHeadAttention::extend); a program adds, reorders and drops sequences. Use it with tapes that
// do not record.
//   KeyValueCache cache = gpt.make_cache(1);
//   Var states = gpt.extend(tape, prompt, cache);  // prompt [1, 7]; then one token at a time
template <class T = float>
class WEFT_API KeyValueCache {
 public:
  // Creates a cache of `num_sequences` empty sequences. Throws ValueError unless num_sequences ≥ 0,
  // the sizes and the capacity are > 0, and the sequences fit into memory. Also throws ValueError
  // if a position has 2³¹ or more elements.
  explicit KeyValueCache(const KeyValueCacheOptions& options, Index num_sequences = 0);

  // The options passed to the constructor.
  const KeyValueCacheOptions& options() const { return options_; }
  // The number of sequences.
  Index num_sequences() const { return static_cast<Index>(sequences_.size()); }
  // Returns the number of positions of a sequence. Throws ValueError unless
  // 0 ≤ sequence < num_sequences().
  Index length(Index sequence) const;
  // Returns the length of the longest sequence, or 0 if there are no sequences.
  Index largest_length() const { return largest(&Sequence::length); }
  // Returns the positions of the next `time` tokens of each sequence, [num_sequences, time], in
  // memory of the tape.
  Tokens next_positions(const Tape<T>& tape, Index time) const;

  // Reorders, repeats and drops sequences, without copying their elements: the new sequence i is
  // the former sequence indices[i]. Throws ValueError, leaving the cache unchanged, unless
  // 0 ≤ index < num_sequences() for every index.
  //   cache.reorder(std::vector<Index>{0, 0, 2});  // repeats the first and drops the second
  void reorder(std::span<const Index> indices);
  // Appends the sequences of another cache. Throws ValueError if the caches differ in num_layers,
  // num_heads or head_size.
  void append(const KeyValueCache& other);
  // Replaces a sequence by `other_sequence` of another cache. Throws ValueError if one of the
  // sequences does not exist, or if the caches differ in num_layers, num_heads or head_size.
  void replace(Index sequence, const KeyValueCache& other, Index other_sequence);
  // Drops the positions of a sequence from `length` on. Throws ValueError unless the sequence
  // exists and 0 ≤ length ≤ its present length.
  void truncate(Index sequence, Index length);

  // For layers: stores the keys and values [num_sequences, time, num_heads · head_size] of new
  // positions in `layer`, after the positions of each sequence. Once every layer has stored its
  // keys and values, `advance` adds the positions to the sequences. Throws ShapeError, ValueError
  // unless 0 ≤ layer < num_layers, and Error for a tape that records.
  void store(Index layer, const Var<T>& keys, const Var<T>& values);
  // Adds the first `time` stored positions to each sequence, or the first times[i] to sequence i,
  // and discards the rest, such as padding. Throws ValueError if fewer positions are stored, if a
  // number is negative, or if `times` has a size other than num_sequences().
  void advance(Index time);
  void advance(std::span<const Index> times);

  // For layers: returns the stored keys of a head, as one row of key_stride() elements for each
  // position. Elements beyond head_size are zeros. Throws ValueError if the sequence does not
  // exist.
  const T* keys(Index layer, Index sequence, Index head) const;
  // For layers: returns the stored values of a head, transposed: row c, of value_stride(sequence)
  // elements, contains channel c of all positions, and zeros after the last stored position. Throws
  // ValueError if the sequence does not exist.
  const T* values(Index layer, Index sequence, Index head) const;
  Index key_stride() const;  // the number of elements of a row of `keys`, a multiple of 16
  // Returns the number of elements of a row of `values`, a multiple of 16. Throws ValueError if the
  // sequence does not exist.
  Index value_stride(Index sequence) const { return at(sequence).capacity; }
  // Returns the largest number of positions for which a sequence has memory, a multiple of 16.
  Index max_capacity() const { return largest(&Sequence::capacity); }

 private:
  struct Sequence {
    Tensor<T> elements;  // [num_layers, 2, num_heads, key_stride · capacity]
    Index capacity = 0;
    Index length = 0;
    Index stored = 0;  // the number of stored positions beyond `length`
  };

  const Sequence& at(Index sequence) const;
  // Returns the largest value of a member, or 0 without sequences.
  Index largest(Index Sequence::*member) const;
  Index offset(Index layer, bool is_value, Index head, Index capacity) const;
  void check_same_sizes(const KeyValueCache& other) const;
  void reserve(Sequence& sequence, Index positions) const;
  void clear_values(Sequence& sequence, Index begin, Index end) const;
  void advance(Sequence& sequence, Index time) const;

  KeyValueCacheOptions options_;
  std::vector<Sequence> sequences_, selected_;
  std::vector<T*> elements_;  // of each sequence; used by `store`
};

// One layer of a cache, which an attention layer reads and writes.
template <class T = float>
struct CachedLayer {
  KeyValueCache<T>& cache;  // the cache of all layers
  Index index = 0;          // the index of the layer, from 0
};

extern template class KeyValueCache<float>;
extern template class KeyValueCache<double>;

}  // namespace weft
