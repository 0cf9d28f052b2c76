#include "weft/layers/key_value_cache.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <numeric>

#include "weft/autograd/parallel.hpp"
#include "weft/autograd/tape.hpp"
#include "autograd/internal/saturating_product.hpp"
#include "layers/internal/checks.hpp"

namespace weft {
namespace {

// Rounds up to a multiple of 16, the largest number of elements of a SIMD vector.
constexpr Index round_up(Index size) { return (std::min(size, Index{1} << 60) + 15) / 16 * 16; }

void check_time(Index time, Index stored) {
  if (time < 0 || time > stored)
    fail<ValueError>("KeyValueCache: time",
                     str_cat("a value from 0 to ", stored, ", the number of stored positions"),
                     time);
}

}  // namespace

template <class T>
KeyValueCache<T>::KeyValueCache(const KeyValueCacheOptions& options, Index num_sequences)
    : options_(options) {
  check_positive("KeyValueCache: num_layers", options.num_layers);
  check_positive("KeyValueCache: num_heads", options.num_heads);
  check_positive("KeyValueCache: head_size", options.head_size);
  check_positive("KeyValueCache: capacity", options.capacity);
  check_at_least("KeyValueCache: num_sequences", num_sequences, Index{0});
  constexpr Index most = std::numeric_limits<std::int32_t>::max();
  const Index elements =
      saturating_product({options.num_layers, 2, options.num_heads, key_stride()});
  if (elements > most)
    fail<ValueError>("KeyValueCache: elements of a position", str_cat("at most ", most), elements);
  try {
    sequences_.resize(static_cast<std::size_t>(num_sequences));
  } catch (const std::exception&) {  // bad_alloc or length_error
    fail<ValueError>("KeyValueCache: num_sequences", "a number that fits into memory",
                     num_sequences);
  }
}

template <class T>
const typename KeyValueCache<T>::Sequence& KeyValueCache<T>::at(Index sequence) const {
  if (sequence < 0 || sequence >= num_sequences())
    fail<ValueError>("KeyValueCache: sequence", "an index from " + index_range(num_sequences()),
                     sequence);
  return sequences_[static_cast<std::size_t>(sequence)];
}

template <class T>
Index KeyValueCache<T>::length(Index sequence) const {
  return at(sequence).length;
}

template <class T>
Index KeyValueCache<T>::largest(Index Sequence::*member) const {
  Index result = 0;
  for (const Sequence& sequence : sequences_) result = std::max(result, sequence.*member);
  return result;
}

template <class T>
Tokens KeyValueCache<T>::next_positions(const Tape<T>& tape, Index time) const {
  Tokens positions = tape.template uninitialized<TokenId>({num_sequences(), time});
  TokenId* row = positions.data();
  for (const Sequence& sequence : sequences_) {
    std::iota(row, row + time, static_cast<TokenId>(sequence.length));
    row += time;
  }
  return positions;
}

template <class T>
void KeyValueCache<T>::reorder(std::span<const Index> indices) {
  selected_.clear();
  for (const Index index : indices) selected_.push_back(at(index));
  sequences_.swap(selected_);
  selected_.clear();  // so that sequences without copies can be written in place
}

template <class T>
void KeyValueCache<T>::check_same_sizes(const KeyValueCache& other) const {
  const auto sizes = [](const KeyValueCacheOptions& options) {
    return Shape{options.num_layers, options.num_heads, options.head_size};
  };
  if (sizes(options_) != sizes(other.options_))
    fail<ValueError>("KeyValueCache",
                     str_cat("a cache with [layers, heads, head size] ", sizes(options_)),
                     sizes(other.options_));
}

template <class T>
void KeyValueCache<T>::append(const KeyValueCache& other) {
  check_same_sizes(other);
  const std::vector<Sequence> added = other.sequences_;
  sequences_.insert(sequences_.end(), added.begin(), added.end());
}

template <class T>
void KeyValueCache<T>::replace(Index sequence, const KeyValueCache& other, Index other_sequence) {
  check_same_sizes(other);
  static_cast<void>(at(sequence));
  sequences_[static_cast<std::size_t>(sequence)] = Sequence(other.at(other_sequence));
}

template <class T>
void KeyValueCache<T>::truncate(Index sequence, Index length) {
  const Index old_length = at(sequence).length;
  if (length < 0 || length > old_length)
    fail<ValueError>("KeyValueCache: length", str_cat("a value from 0 to ", old_length), length);
  Sequence& truncated = sequences_[static_cast<std::size_t>(sequence)];
  clear_values(truncated, length, old_length + truncated.stored);
  truncated.length = length;
  truncated.stored = 0;
}

template <class T>
Index KeyValueCache<T>::offset(Index layer, bool is_value, Index head, Index capacity) const {
  return (((2 * layer + (is_value ? 1 : 0)) * options_.num_heads) + head) * key_stride() * capacity;
}

template <class T>
Index KeyValueCache<T>::key_stride() const {
  return round_up(options_.head_size);
}

template <class T>
const T* KeyValueCache<T>::keys(Index layer, Index sequence, Index head) const {
  const Sequence& of = at(sequence);
  return of.elements.data() + offset(layer, false, head, of.capacity);
}

template <class T>
const T* KeyValueCache<T>::values(Index layer, Index sequence, Index head) const {
  const Sequence& of = at(sequence);
  return of.elements.data() + offset(layer, true, head, of.capacity);
}

// Grows the memory of a sequence to at least this many positions, keeping the existing ones.
template <class T>
void KeyValueCache<T>::reserve(Sequence& sequence, Index positions) const {
  if (positions <= sequence.capacity) return;
  const Index old_capacity = sequence.capacity;
  const Index capacity =
      round_up(std::max({positions, options_.capacity, old_capacity + old_capacity / 2}));
  const auto& [layers, heads, size, initial] = options_;
  const Index stride = key_stride();
  Tensor<T> larger({layers, 2, heads, saturating_product({stride, capacity})});
  T* to = larger.data();
  const T* from = std::as_const(sequence.elements).data();
  const Index used = std::min(old_capacity, sequence.length + sequence.stored);
  for (Index layer = 0; layer < layers && used > 0; ++layer)
    for (Index head = 0; head < heads; ++head) {
      std::copy_n(from + offset(layer, false, head, old_capacity), used * stride,
                  to + offset(layer, false, head, capacity));
      for (Index c = 0; c < size; ++c)
        std::copy_n(from + offset(layer, true, head, old_capacity) + c * old_capacity, used,
                    to + offset(layer, true, head, capacity) + c * capacity);
    }
  sequence.elements = std::move(larger);
  sequence.capacity = capacity;
}

// Sets the values of positions [begin, end) to zeros.
template <class T>
void KeyValueCache<T>::clear_values(Sequence& sequence, Index begin, Index end) const {
  if (begin >= end) return;
  T* elements = sequence.elements.data();
  for (Index layer = 0; layer < options_.num_layers; ++layer)
    for (Index head = 0; head < options_.num_heads; ++head) {
      T* values = elements + offset(layer, true, head, sequence.capacity);
      for (Index c = 0; c < options_.head_size; ++c)
        std::fill(values + c * sequence.capacity + begin, values + c * sequence.capacity + end,
                  T{0});
    }
}

template <class T>
void KeyValueCache<T>::store(Index layer, const Var<T>& keys, const Var<T>& values) {
  const Index heads = options_.num_heads, size = options_.head_size;
  if (keys.tape().recording())
    throw Error("KeyValueCache: expected an inference tape, got a recording tape");
  if (layer < 0 || layer >= options_.num_layers)
    fail<ValueError>("KeyValueCache: layer", str_cat("a value from 0 to ", options_.num_layers - 1),
                     layer);
  const Shape& shape = keys.shape();
  if (shape.rank() != 3 || shape[0] != num_sequences() || shape[2] != heads * size ||
      values.shape() != shape)
    fail<ShapeError>(
        "KeyValueCache",
        str_cat("keys and values of shape [", num_sequences(), ", time, ", heads * size, "]"),
        str_cat(shape, " and ", values.shape()));
  const Index time = shape[1], stride = key_stride();
  elements_.clear();
  for (Sequence& sequence : sequences_) {
    // Clear the values that a failed step has stored.
    clear_values(sequence, sequence.length + time, sequence.length + sequence.stored);
    reserve(sequence, sequence.length + time);
    sequence.stored = time;
    elements_.push_back(sequence.elements.data());  // a copy if it was shared
  }
  parallel_for(num_sequences() * heads, grain_of(2 * time * size), [&](Index begin, Index end) {
    for (Index item = begin; item < end; ++item) {
      const Index i = item / heads, head = item % heads;
      const Sequence& sequence = sequences_[static_cast<std::size_t>(i)];
      T* const elements = elements_[static_cast<std::size_t>(i)];
      T* const to_keys =
          elements + offset(layer, false, head, sequence.capacity) + sequence.length * stride;
      T* const to_values =
          elements + offset(layer, true, head, sequence.capacity) + sequence.length;
      const T* from_keys = keys.value().data() + (i * time * heads + head) * size;
      const T* from_values = values.value().data() + (i * time * heads + head) * size;
      for (Index t = 0; t < time; ++t)
        std::copy_n(from_keys + t * heads * size, size, to_keys + t * stride);
      for (Index c = 0; c < size; ++c)
        for (Index t = 0; t < time; ++t)
          to_values[c * sequence.capacity + t] = from_values[t * heads * size + c];
    }
  });
}

template <class T>
void KeyValueCache<T>::advance(Sequence& sequence, Index time) const {
  clear_values(sequence, sequence.length + time, sequence.length + sequence.stored);
  sequence.length += time;
  sequence.stored = 0;
}

template <class T>
void KeyValueCache<T>::advance(Index time) {
  for (const Sequence& sequence : sequences_) check_time(time, sequence.stored);
  for (Sequence& sequence : sequences_) advance(sequence, time);
}

template <class T>
void KeyValueCache<T>::advance(std::span<const Index> times) {
  if (std::ssize(times) != num_sequences())
    fail<ValueError>("KeyValueCache: times",
                     str_cat(num_sequences(), " elements, one for each sequence"), times.size());
  for (std::size_t i = 0; i < times.size(); ++i) check_time(times[i], sequences_[i].stored);
  for (std::size_t i = 0; i < times.size(); ++i) advance(sequences_[i], times[i]);
}

template class KeyValueCache<float>;
template class KeyValueCache<double>;

}  // namespace weft
