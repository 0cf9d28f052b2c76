// Pool: keeps released memory for reuse, by size.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/autograd/buffer.hpp"

namespace weft {

// A lock to be held only for a few instructions.
class SpinLock {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

// Keeps released blocks for later requests of the same size class, so that repeated passes with the
// same shapes stop allocating. Lives until its owner abandons it and its last block is released.
class Pool {
 public:
  static Pool* create() { return new Pool; }
  // Ends ownership: free blocks return to the heap now, blocks in use when they are released.
  void abandon() noexcept;
  MemoryStatistics statistics() const;

 private:
  friend class Buffer;
  Pool() = default;
  ~Pool() = default;

  Buffer::Block* take(std::size_t bytes);
  void give_back(Buffer::Block* block) noexcept;

  // Two size classes per power of two; the largest covers all of a 64-bit address space.
  static constexpr unsigned class_count = 128;

  mutable SpinLock lock_;
  bool abandoned_ = false;
  std::int64_t blocks_in_use_ = 0;
  MemoryStatistics statistics_;
  Buffer::Block* free_[class_count] = {};
};

}  // namespace weft
