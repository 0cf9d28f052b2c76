// parallel_for: distributes all of weft's parallel work over threads.
#pragma once

#include <algorithm>
#include <type_traits>

#include "weft/autograd/export.hpp"
#include "weft/autograd/shape.hpp"

namespace weft {

// The maximum number of threads of `parallel_for`: OpenMP's (OMP_NUM_THREADS or
// `set_thread_count`), but at most `thread_limit()`.
WEFT_API int thread_count();
// Sets the number of threads for all later work of the calling thread. Throws ValueError unless
// 1 ≤ threads ≤ `thread_limit()`.
WEFT_API void set_thread_count(int threads);
// Four times the number of processors, and at least 16: more threads only cost memory.
WEFT_API int thread_limit();

namespace detail {
// Calls `run(context, chunk)` for every chunk, on up to thread_count() threads.
WEFT_API void run_chunks(Index chunks, void (*run)(const void* context, Index chunk),
                         const void* context);
}  // namespace detail

// The index of this thread in the running `parallel_for`: 0 … thread_count() - 1, and 0 outside of
// one. For scratch memory per thread.
WEFT_API int thread_index();

// True when `parallel_for` here would use one thread: the maximum is 1, or the call is inside a
// parallel region.
WEFT_API bool is_sequential();

// Calls `body(begin, end)` on consecutive ranges that cover 0 … count, each of `grain` items except
// the last. The ranges depend only on `count` and `grain`, never on the number of threads, so a
// body that sums only within its range gives the same bits on any number of threads. A single
// range, or a call from inside a parallel region, runs on the calling thread. Rethrows the
// exception of the first range that threw.
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

// The number of items, each of `cost` elementary operations (a multiply-add, a load), that make a
// range worth running on another thread.
constexpr Index grain_of(Index cost) {
  return std::max<Index>(1, 16384 / std::max<Index>(1, cost));
}

}  // namespace weft
