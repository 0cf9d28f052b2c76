// Scaled dot-product attention for short sequences, in blocks of as many queries as a vector has
// lanes.
// Included by definitions only.
#pragma once

#include <limits>

#include "weft/autograd/tape.hpp"
#include "autograd/kernels/attention_block.hpp"
#include "autograd/kernels/transposed_copy.hpp"
#include "autograd/ops/internal/attention_head.hpp"

namespace weft {
namespace detail {

inline constexpr Index max_blocks = 4, max_keys = 64;

// Returns the number of weights of a head, which are stored block after block.
template <class T>
Index weights_size(const Attention<T>& a) {
  constexpr Index block = AttentionBlock<T>::max_width;
  const Index rest = a.queries % block;
  return a.keys * (a.queries - rest + (rest > 0 ? AttentionBlock<T>::width_of(rest) : 0));
}

// A thread's scratch memory.
template <class T>
struct Scratch {
  T* block;    // scratch of AttentionBlock
  T* rows;     // a row of keys for each query of a block
  T* dropout;  // [keys, width]
  T* bias;     // the biases of all blocks of a head

  Scratch(const Attention<T>& a, T* from)
      : block(from),
        rows(block + AttentionBlock<T>::scratch_size(a.keys, a.size, a.value_size)),
        dropout(rows + a.keys * AttentionBlock<T>::max_width),
        bias(dropout + a.keys * AttentionBlock<T>::max_width) {}
  static Index size(const Attention<T>& a) {
    return AttentionBlock<T>::scratch_size(a.keys, a.size, a.value_size) +
           2 * a.keys * AttentionBlock<T>::max_width + weights_size(a);
  }
};

// Calls body(first, count) for each block of queries of a head.
template <class T, class Body>
void for_each_range(const Attention<T>& a, const Body& body) {
  constexpr Index block = AttentionBlock<T>::max_width;
  for (Index first = 0; first < a.queries; first += block)
    body(first, std::min(block, a.queries - first));
}

// Computes the terms that are added to the scores of a head.
template <class T>
void compute_bias(const Head<T>& head, const Scratch<T>& scratch) {
  const Attention<T>& a = head.a;
  for_each_range(a, [&](Index first, Index count) {
    const Index keys = head.limit(first, first + count);
    for (Index i = 0; i < count; ++i) {
      T* row = scratch.rows + i * keys;
      const Index limit = a.mask.limit(head.b, first + i);
      std::fill(row, row + limit, T{0});
      head.add_terms(row, first + i, 0, limit);
      a.mask.apply(head.b, head.h, first + i, 0, limit, row, row);
      std::fill(row + limit, row + keys, -std::numeric_limits<T>::infinity());
    }
    copy_transposed(keys, count, T{1}, scratch.rows, keys, scratch.bias + first * a.keys,
                    AttentionBlock<T>::width_of(count));
  });
}

// Returns the block of queries [first, first + count) of a head and the keys that they attend to.
template <class T>
AttentionBlock<T> block_of(const Head<T>& head, Index first, Index count,
                           const Scratch<T>& scratch) {
  const Attention<T>& a = head.a;
  AttentionBlock<T> block{.queries = count,
                          .keys = head.limit(first, first + count),
                          .size = a.size,
                          .value_size = a.value_size,
                          .q = a.q.data() + head.q_offset(first),
                          .k = a.k.data() + head.k_offset(0),
                          .v = a.v.data() + head.v_offset(0),
                          .q_stride = a.q_stride(),
                          .k_stride = a.q_stride(),
                          .v_stride = a.v_stride(),
                          .y_stride = a.v_stride(),
                          .scale = a.scale,
                          .bias = scratch.bias + first * a.keys,
                          .dropout = nullptr};
  if (a.use_dropout) {
    T* const rows = scratch.rows;
    std::fill(rows, rows + count * a.keys, T{1});
    a.dropout.apply(head.weight_offset(first), rows, rows, count * a.keys);
    copy_transposed(block.keys, count, T{1}, rows, a.keys, scratch.dropout, block.width());
    block.dropout = scratch.dropout;
  }
  return block;
}

// Calls body(head, block, first, scratch) for the blocks of every head of every sequence, in
// parallel over heads; `first` is the first query of the block.
template <class T, class Body>
void for_each_block(const Attention<T>& a, const Tape<T>& tape, const Body& body) {
  if (a.batch == 0) return;
  const Index size = Scratch<T>::size(a);
  Tensor<T> memory = tape.uninitialized({thread_count(), size});
  T* const of_threads = memory.data();
  parallel_for(a.batch * a.heads, a.grain(), [&](Index begin, Index end, int thread) {
    T* const of_thread = of_threads + thread * size;
    // Lanes without a query are computed, too; denormals there would be slow.
    std::fill(of_thread, of_thread + size, T{0});
    const Scratch<T> scratch(a, of_thread);
    for (Index item = begin; item < end; ++item) {
      const Head<T> head{a, item / a.heads, item % a.heads};
      if (item == begin || a.mask.differs_between_heads() || !a.position_bias.empty() ||
          (head.h == 0 && (a.mask.differs_between_sequences() || !a.marks.empty())))
        compute_bias(head, scratch);
      for_each_range(a, [&](Index first, Index count) {
        body(head, block_of(head, first, count, scratch), first, scratch.block);
      });
    }
  });
}

// Returns the offset of a block in the weights.
template <class T>
Index weights_offset(const Head<T>& head, Index first) {
  return (head.b * head.a.heads + head.h) * weights_size(head.a) + first * head.a.keys;
}

}  // namespace detail

// Returns true if blocks are faster than tiles.
template <class T>
bool prefers_blocks(const Attention<T>& a) {
  return a.queries <= detail::max_blocks * AttentionBlock<T>::max_width &&
         a.keys <= detail::max_keys;
}

// Writes the result to y and, unless `weights` is null, the weights [B, H, Q, K] before dropout to
// `weights`. Returns the weights in the form that backward needs. Since the sequences are short,
// they are no larger than the inputs.
template <class T>
Tensor<T> attend_in_blocks(const Attention<T>& a, const Tape<T>& tape, Tensor<T>& y, T* weights) {
  Tensor<T> p = tape.uninitialized({a.batch, a.heads, detail::weights_size(a)});
  T *const p_data = p.data(), *const y_data = y.data();
  const auto attend = [&](const Head<T>& head, const AttentionBlock<T>& block, Index first,
                          T* scratch) {
    T* const p_block = p_data + detail::weights_offset(head, first);
    block.forward(p_block, y_data + head.out_offset(first), scratch);
    if (!weights) return;
    for (Index i = 0; i < block.queries; ++i) {
      T* const row = weights + head.weight_offset(first + i);
      for (Index key = 0; key < block.keys; ++key) row[key] = p_block[key * block.width() + i];
      std::fill(row + block.keys, row + a.keys, T{0});
    }
  };
  detail::for_each_block(a, tape, attend);
  return p;
}

// Adds to the gradients of queries, keys and values, and to the terms of the position bias's
// gradient; `p` is the result of attend_in_blocks.
template <class T>
void add_gradients_in_blocks(const Attention<T>& a, const Tape<T>& tape, const Tensor<T>& p,
                             const Tensor<T>& dy, const Gradient<T>& dq, const Gradient<T>& dk,
                             const Gradient<T>& dv, Tensor<T>& terms) {
  const auto at = [](const Gradient<T>& gradient, Index offset) {
    return gradient ? gradient.data() + offset : nullptr;
  };
  const auto add = [&](const Head<T>& head, const AttentionBlock<T>& block, Index first,
                       T* scratch) {
    T* const dbias = head.own_terms(terms);
    block.backward(p.data() + detail::weights_offset(head, first),
                   dy.data() + head.out_offset(first), at(dq, head.q_offset(first)),
                   at(dk, head.k_offset(0)), at(dv, head.v_offset(0)),
                   dbias ? dbias + head.distance(first, 0) : nullptr, scratch);
  };
  detail::for_each_block(a, tape, add);
}

}  // namespace weft
