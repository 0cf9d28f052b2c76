// Arena: a bump allocator that frees all of its memory at once.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace weft {

class Arena {
 public:
  // Memory for an object; valid until `reset`. Alignment up to that of std::max_align_t.
  void* allocate(std::size_t bytes) {
    bytes = (bytes + alignof(std::max_align_t) - 1) & ~(alignof(std::max_align_t) - 1);
    while (current_ < chunks_.size() && used_ + bytes > chunks_[current_].size) {
      ++current_;
      used_ = 0;
    }
    if (current_ == chunks_.size()) {
      const std::size_t size = bytes > chunk_size ? bytes : chunk_size;
      chunks_.push_back({std::make_unique<std::byte[]>(size), size});
    }
    void* memory = chunks_[current_].memory.get() + used_;
    used_ += bytes;
    return memory;
  }

  // Frees every object and keeps the memory for reuse. Runs no destructors.
  void reset() { current_ = used_ = 0; }

 private:
  static constexpr std::size_t chunk_size = std::size_t{1} << 16;
  struct Chunk {
    std::unique_ptr<std::byte[]> memory;
    std::size_t size;
  };
  std::vector<Chunk> chunks_;
  std::size_t current_ = 0;
  std::size_t used_ = 0;
};

}  // namespace weft
