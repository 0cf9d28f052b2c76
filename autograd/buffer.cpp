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

const void* Buffer::derived(std::size_t bytes, const std::function<void(void*)>& derive) const {
  std::atomic<Attachment>& attachment = block_->attachment;
  for (Attachment found = attachment.load(std::memory_order_acquire);;) {
    if (found == Attachment::exact || found == Attachment::current) return block_->attached + 1;
    if (found == Attachment::deriving) {
      std::this_thread::yield();
      found = attachment.load(std::memory_order_acquire);
    } else if (attachment.compare_exchange_weak(found, Attachment::deriving,
                                                std::memory_order_acquire)) {
      break;
    }
  }
  try {
    if (!block_->attached) {
      Buffer memory(bytes, block_->pool);
      std::swap(block_->attached, memory.block_);
    }
    derive(block_->attached + 1);
  } catch (...) {
    attachment.store(block_->attached ? Attachment::outdated : Attachment::none,
                     std::memory_order_release);
    throw;
  }
  attachment.store(Attachment::current, std::memory_order_release);
  return block_->attached + 1;
}

void Buffer::release(Block* block) noexcept {
  block->attachment.store(Attachment::none, std::memory_order_relaxed);
  Buffer attached;
  std::swap(attached.block_, block->attached);
  if (block->pool)
    block->pool->give_back(block);
  else
    deallocate(block);
}

void Buffer::deallocate(Block* block) noexcept {
  ::operator delete (block, std::align_val_t{alignment});
}

}  // namespace weft
