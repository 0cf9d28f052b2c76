// Buffer and Pool: 64-byte aligned, reference-counted memory, recycled by size.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace weft {

class Pool;

// A handle on one block of memory; copies share it. The block goes back to its pool, or to the
// heap when it has none, with its last handle. Handles may be copied and dropped on any thread.
class Buffer {
 public:
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

  // The start of the memory; null for a handle on nothing.
  void* data() const {
    return block_ ? reinterpret_cast<std::byte*>(block_) + sizeof(Block) : nullptr;
  }
  // True when no other handle shares the memory.
  bool unique() const { return block_ && block_->references.load(std::memory_order_acquire) == 1; }

 private:
  friend class Pool;

  // Stands in front of the memory and keeps it aligned.
  struct alignas(64) Block {
    std::atomic<std::int64_t> references{1};
    Pool* pool = nullptr;
    Block* next = nullptr;     // in the pool's free list
    std::size_t capacity = 0;  // bytes behind the block
    unsigned size_class = 0;
  };
  static Block* allocate(std::size_t bytes);
  static void release(Block* block) noexcept;

  Block* block_ = nullptr;
};

// Keeps released blocks for the next request of the same size class, so that work which repeats
// its shapes stops allocating. Lives as long as its owner or its last block, whichever is later.
class Pool {
 public:
  struct Statistics {
    std::size_t bytes_held = 0;       // taken from the heap and not given back
    std::uint64_t heap_requests = 0;  // how often the heap was asked since the pool was made
  };

  static Pool* create() { return new Pool; }
  // Gives up ownership: free blocks go back to the heap, blocks in use follow when released.
  void abandon() noexcept;
  Statistics statistics() const;

 private:
  friend class Buffer;
  Pool() = default;
  ~Pool() = default;

  Buffer::Block* take(std::size_t bytes);
  void give_back(Buffer::Block* block) noexcept;

  // Two size classes a power of two; the largest covers all of a 64-bit address space.
  static constexpr unsigned class_count = 128;

  mutable std::atomic_flag lock_ = ATOMIC_FLAG_INIT;
  bool abandoned_ = false;
  std::int64_t blocks_in_use_ = 0;
  Statistics statistics_;
  Buffer::Block* free_[class_count] = {};
};

}  // namespace weft
