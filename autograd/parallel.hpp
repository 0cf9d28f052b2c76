// parallel_for: the one way in which weft's work is spread over threads.
#pragma once

#include <algorithm>
#include <type_traits>

#include "weft/autograd/shape.hpp"

namespace weft {

// The number of threads that `parallel_for` uses at most: OpenMP's (OMP_NUM_THREADS or
// `set_thread_count`), but never more than `thread_limit()`.
int thread_count();
// For work that the calling thread starts from now on. Throws ValueError unless 1 ≤ threads ≤
// `thread_limit()`.
void set_thread_count(int threads);
// Four times the processors, and at least 16: more threads than that only cost memory.
int thread_limit();

namespace detail {
// Calls `run(context, chunk)` for every chunk, on up to thread_count() threads.
void run_chunks(Index chunks, void (*run)(const void* context, Index chunk), const void* context);
}  // namespace detail

// Which of the threads of the running `parallel_for` this one is: 0 … thread_count() - 1, and 0
// outside. For scratch memory, one piece a thread.
int thread_index();

// Whether a `parallel_for` here would run on the calling thread: it may use no more, or the call
// comes from inside a parallel region.
bool is_sequential();

// Calls `body(begin, end)` on consecutive ranges that cover 0 … count, each of `grain` items but
// the last. The ranges depend on `count` and `grain` alone, never on the number of threads, so a
// body that keeps what it adds up within its range gives the same bits on any number of threads.
// A single range, or a call from inside a parallel region, runs on the calling thread. An exception
// thrown by `body` reaches the caller: the one of the first range that threw.
template <class Body>
void parallel_for(Index count, Index grain, const Body& body) {
  if (count <= 0) return;
  if (count <= grain) return static_cast<void>(body(Index{0}, count));
  grain = std::max<Index>(grain, 1);
  struct Context {
    const Body& body;
    Index count;
    Index grain;
  } const context{body, count, grain};
  detail::run_chunks((count + grain - 1) / grain,
                     [](const void* opaque, Index chunk) {
                       const auto& [call, total, size] = *static_cast<const Context*>(opaque);
                       call(chunk * size, std::min(total, (chunk + 1) * size));
                     },
                     &context);
}

// How many items of `cost` elementary steps each (a multiply-add, a load) make a range that is
// worth handing to a thread.
constexpr Index grain_of(Index cost) {
  return std::max<Index>(1, 16384 / std::max<Index>(1, cost));
}

}  // namespace weft
