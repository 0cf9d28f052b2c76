#include "weft/autograd/buffer.hpp"

#include <new>
#include <thread>

#include "autograd/internal/pool.hpp"

namespace weft {

Buffer::Buffer(std::size_t bytes, Pool* pool)
    : block_(pool ? pool->take(bytes) : allocate(bytes)) {}

Buffer::Block* Buffer::allocate(std::size_t bytes) {
  if (bytes > SIZE_MAX - sizeof(Block)) throw std::bad_alloc();
  auto* block = new (::operator new (sizeof(Block) + bytes, std::align_val_t{alignment})) Block;
  block->capacity = bytes;
  return block;
}

Buffer Buffer::derived(std::size_t bytes, const std::function<void(void*)>& derive) const {
  std::atomic<Derived>& state = block_->state;
  for (Derived found = state.load(std::memory_order_acquire);;) {
    if (found == Derived::current) return Buffer(block_->derived);
    if (found == Derived::deriving) {
      std::this_thread::yield();
      found = state.load(std::memory_order_acquire);
    } else if (state.compare_exchange_weak(found, Derived::deriving, std::memory_order_acquire)) {
      break;
    }
  }
  try {
    const bool is_free = block_->derived && block_->derived->references == 1;
    if (!is_free) {
      Buffer memory(bytes, block_->pool);
      std::swap(block_->derived, memory.block_);
    }
    derive(block_->derived + 1);
  } catch (...) {
    state.store(block_->derived ? Derived::outdated : Derived::none, std::memory_order_release);
    throw;
  }
  Buffer result(block_->derived);
  state.store(Derived::current, std::memory_order_release);
  return result;
}

void Buffer::release(Block* block) noexcept {
  block->state.store(Derived::none, std::memory_order_relaxed);
  Buffer derived;
  std::swap(derived.block_, block->derived);
  if (block->pool)
    block->pool->give_back(block);
  else
    deallocate(block);
}

void Buffer::deallocate(Block* block) noexcept {
  ::operator delete (block, std::align_val_t{alignment});
}

}  // namespace weft
