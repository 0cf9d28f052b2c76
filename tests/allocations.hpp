// Counts the heap allocations of a program and their bytes, and makes them fail where a test asks
// for it, by replacing operator new. Included by one file of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

[[maybe_unused]] std::atomic<std::int64_t> allocations = 0, allocated_bytes = 0;

// The number of allocations of this thread that succeed before all others fail; none fail below 0.
[[maybe_unused]] thread_local std::int64_t allocations_left = -1;

// Null where the allocation fails. This and release are not inlined, or g++ would warn that the
// memory of one operator that it sees is freed by another that it does not see.
[[gnu::noinline]] void* allocated(std::size_t bytes, std::size_t alignment) noexcept {
  ++allocations;
  allocated_bytes += static_cast<std::int64_t>(bytes);
  if (allocations_left == 0) return nullptr;
  if (allocations_left > 0) --allocations_left;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

[[gnu::noinline]] void release(void* memory) noexcept { std::free(memory); }

void* allocated_or_throw(std::size_t bytes, std::size_t alignment) {
  void* memory = allocated(bytes, alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) {
  return allocated_or_throw(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocated_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocated(bytes, alignof(std::max_align_t));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
