// Selects one of the mistakes that mutation.sh compiles in. Included in every file of its build.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace weft_mistakes {

// The number of the mistake to make, 0 for none.
inline const int made = [] {
  const char* number = std::getenv("WEFT_MISTAKE");
  return number ? std::atoi(number) : 0;
}();

// A hash table of the numbers of the mistakes that this process and its children have reached, in
// the file WEFT_REACHED; null if there is none. Being mapped, it grows even if a test limits the
// size of files.
inline constexpr unsigned capacity = 8192;
inline std::atomic<int>* const reached = []() -> std::atomic<int>* {
  const char* path = std::getenv("WEFT_REACHED");
  if (!path) return nullptr;
  const int file = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  constexpr std::size_t bytes = capacity * sizeof(std::atomic<int>);
  if (file < 0 || ::ftruncate(file, bytes) != 0) std::abort();
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) std::abort();
  ::close(file);
  return static_cast<std::atomic<int>*>(memory);
}();

inline void record(int number) {
  for (unsigned i = static_cast<unsigned>(number) % capacity;; i = (i + 1) % capacity) {
    int found = reached[i].load(std::memory_order_relaxed);
    if (found == number) return;
    if (found == 0 && (reached[i].compare_exchange_strong(found, number) || found == number))
      return;
  }
}

}  // namespace weft_mistakes

// Returns whether to make the mistake of this number.
[[gnu::always_inline]] inline bool weft_mistake(int number) {
  if (weft_mistakes::reached) weft_mistakes::record(number);
  return weft_mistakes::made == number;
}
