// Buffer: 64-byte aligned, reference-counted memory that tensors share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "weft/autograd/export.hpp"

namespace weft {

class Pool;

// Memory statistics of a pool, for example a tape's.
struct MemoryStatistics {
  std::size_t bytes_in_use = 0;     // used by tensors and records
  std::size_t bytes_held = 0;       // allocated from the heap and not yet freed
  std::uint64_t heap_requests = 0;  // heap allocations since the pool was created
};

// A handle to one block of memory; copies share it. When the last handle is destroyed, the block
// returns to its pool, or to the heap if it has no pool. Handles may be copied and destroyed on any
// thread.
class WEFT_API Buffer {
 public:
  static constexpr std::size_t alignment = 64;  // alignment of the memory, in bytes

  Buffer() = default;
  // Allocates `bytes` bytes of uninitialized memory, from `pool` if it is not null and otherwise
  // from the heap. Throws std::bad_alloc.
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

  // Returns the start of the memory, or null for an empty handle.
  void* data() const { return block_ ? block_ + 1 : nullptr; }
  // Returns true if another handle shares the memory. Before writing, the owner must then make a
  // copy.
  bool shared() const { return block_ && block_->references.load(std::memory_order_acquire) != 1; }
  // Returns `bytes` bytes that are derived from this memory and kept with it. Unless they are
  // current, calls `derive(start)` first. May be called on several threads at once; only one of
  // them calls `derive`.
  Buffer derived(std::size_t bytes, const std::function<void(void*)>& derive) const;
  // Returns true if derived data exist that are out of date after a write, or already have been.
  bool has_derived() const {
    return block_ && block_->state.load(std::memory_order_relaxed) != Derived::none;
  }
  // Marks derived data as out of date; the only handle must call this before writing.
  void outdate() { block_->state.store(Derived::outdated, std::memory_order_relaxed); }
  // Returns the pool that the memory came from, or null for the heap.
  Pool* pool() const { return block_ ? block_->pool : nullptr; }

 private:
  friend class Pool;

  enum class Derived : std::uint8_t { none, deriving, current, outdated };

  // The header in front of the memory. Its size equals the alignment, so the memory is aligned,
  // too.
  struct alignas(alignment) Block {
    std::atomic<std::int64_t> references{1};
    Pool* pool = nullptr;
    Block* next = nullptr;     // in the pool's free list
    Block* derived = nullptr;  // the memory of the derived data
    std::size_t capacity = 0;  // bytes of memory after the header
    unsigned size_class = 0;
    std::atomic<Derived> state{Derived::none};
  };
  explicit Buffer(Block* block) : block_(block) {
    block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  static Block* allocate(std::size_t bytes);
  static void deallocate(Block* block) noexcept;
  static void release(Block* block) noexcept;

  Block* block_ = nullptr;
};

}  // namespace weft
