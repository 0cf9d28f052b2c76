#include "weft/autograd/buffer.hpp"

#include <new>

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

void Buffer::release(Block* block) noexcept {
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
