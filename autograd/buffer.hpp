// Buffer: 64-byte aligned, reference-counted memory, which tensors share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "weft/autograd/export.hpp"

namespace weft {

class Pool;

// The memory of a pool.
struct MemoryStatistics {
  std::size_t bytes_in_use = 0;     // by tensors and records
  std::size_t bytes_held = 0;       // taken from the heap and not returned yet
  std::uint64_t heap_requests = 0;  // allocations since the pool was created
};

// A handle to one block of memory; copies share it. When the last handle is destroyed, the block
// returns to its pool, or to the heap when it has none. Handles may be copied and destroyed on any
// thread.
class WEFT_API Buffer {
 public:
  static constexpr std::size_t alignment = 64;  // of the memory, in bytes

  Buffer() = default;
  // `bytes` of uninitialized memory, from `pool` when there is one. Throws std::bad_alloc.
  explicit Buffer(std::size_t bytes, Pool* pool = nullptr);
  Buffer(const Buffer& other) : block_(other.block_) {
    if (block_) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Buffer(Buffer&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Buffer() {
    if (block_ && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) release(block_);
  }

  // The start of the memory; null for an empty handle.
  void* data() const { return block_ ? block_ + 1 : nullptr; }
  // True when another handle shares the memory, or other memory is attached: whoever writes to it
  // must take memory of its own first.
  bool shared() const {
    return block_ && (block_->references.load(std::memory_order_acquire) != 1 || block_->attached);
  }
  // Memory with another form of the contents, which is kept as long as this memory; null when there
  // is none. To be attached before this memory is shared.
  void attach(Buffer other) { std::swap(block_->attached, other.block_); }
  // The memory that was attached; null when there is none.
  const void* attached() const {
    return block_ && block_->attached ? block_->attached + 1 : nullptr;
  }
  // The pool that the memory came from; null for the heap.
  Pool* pool() const { return block_ ? block_->pool : nullptr; }

 private:
  friend class Pool;

  // The header in front of the memory, as long as its alignment.
  struct alignas(alignment) Block {
    std::atomic<std::int64_t> references{1};
    Pool* pool = nullptr;
    Block* next = nullptr;  // in the pool's free list
    Block* attached = nullptr;
    std::size_t capacity = 0;  // bytes of memory after the header
    unsigned size_class = 0;
  };
  static Block* allocate(std::size_t bytes);
  static void deallocate(Block* block) noexcept;
  static void release(Block* block) noexcept;

  Block* block_ = nullptr;
};

}  // namespace weft
