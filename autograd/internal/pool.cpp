#include "autograd/internal/pool.hpp"

#include <bit>
#include <mutex>
#include <utility>

namespace weft {
namespace {

// Sizes are in units of 64 bytes. The two highest bits of the size determine its class, so batches
// of different lengths share blocks. Pages of a block that are never accessed use no physical
// memory.
unsigned size_class(std::size_t units) {
  const auto power = static_cast<unsigned>(std::bit_width(units)) - 1;
  if (power < 1) return static_cast<unsigned>(units);
  return power * 2 + static_cast<unsigned>((units >> (power - 1)) & 1);
}

// The largest number of units in a class.
std::size_t class_units(unsigned index) {
  if (index < 2) return index;
  const unsigned power = index / 2;
  return ((std::size_t{2} + index % 2 + 1) << (power - 1)) - 1;
}

}  // namespace

Buffer::Block* Pool::take(std::size_t bytes) {
  const unsigned index = size_class(bytes / 64 + 1);
  {
    const std::lock_guard guard(lock_);
    ++blocks_in_use_;
    statistics_.bytes_in_use += class_units(index) * 64;
    if (Buffer::Block* block = free_[index]) {
      free_[index] = block->next;
      block->references.store(1, std::memory_order_relaxed);
      return block;
    }
  }
  Buffer::Block* block = nullptr;
  try {
    block = Buffer::allocate(class_units(index) * 64);
  } catch (...) {
    const std::lock_guard guard(lock_);
    --blocks_in_use_;
    statistics_.bytes_in_use -= class_units(index) * 64;
    throw;
  }
  block->pool = this;
  block->size_class = index;
  const std::lock_guard guard(lock_);
  statistics_.bytes_held += block->capacity;
  ++statistics_.heap_requests;
  return block;
}

void Pool::give_back(Buffer::Block* block) noexcept {
  bool last = false;
  {
    const std::lock_guard guard(lock_);
    --blocks_in_use_;
    statistics_.bytes_in_use -= class_units(block->size_class) * 64;
    if (!abandoned_) {
      block->next = free_[block->size_class];
      free_[block->size_class] = block;
      return;
    }
    last = blocks_in_use_ == 0;
  }
  Buffer::deallocate(block);
  if (last) delete this;
}

void Pool::abandon() noexcept {
  bool last = false;
  {
    // Under the lock to the end: the thread that releases the last block deletes the pool.
    const std::lock_guard guard(lock_);
    abandoned_ = true;
    for (Buffer::Block*& list : free_)
      while (list) Buffer::deallocate(std::exchange(list, list->next));
    last = blocks_in_use_ == 0;
  }
  if (last) delete this;
}

MemoryStatistics Pool::statistics() const {
  const std::lock_guard guard(lock_);
  return statistics_;
}

}  // namespace weft
