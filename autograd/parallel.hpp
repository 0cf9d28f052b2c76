// parallel_for: all of weft's parallel work, in parallel regions of OpenMP.
#pragma once

#include <algorithm>
#include <type_traits>

#include "weft/autograd/export.hpp"
#include "weft/autograd/shape.hpp"

namespace weft {

// The maximum number of threads of `parallel_for`: OpenMP's (OMP_NUM_THREADS, omp_set_num_threads
// or `set_thread_count`, OMP_THREAD_LIMIT), but at most `thread_limit()`; 1 inside a parallel
// region, and in a process that was forked off after the first one (OpenMP's threads do not exist
// there).
WEFT_API int thread_count();
// Sets the number of threads for all later work of the calling thread. Throws ValueError unless
// 1 ≤ threads ≤ `thread_limit()`.
WEFT_API void set_thread_count(int threads);
// Four times the number of processors, and at least 16: more threads only cost memory.
WEFT_API int thread_limit();

// Is told of parallel regions, for measuring them.
class WEFT_API ParallelObserver {
 public:
  virtual ~ParallelObserver() = default;
  virtual void region_begins() = 0;  // called on the thread that enters a region
  virtual void region_ends() = 0;    // and when it leaves it
  // Called on the thread that computes a range, before it. `thread` is the number that
  // `parallel_for` gives.
  virtual void range_begins(int thread) = 0;
  virtual void range_ends(int thread) = 0;  // and after it, unless it throws
};
// Sets the observer of the regions that the calling thread enters from here on; null for none.
// Returns the one before.
WEFT_API ParallelObserver* observe_parallel(ParallelObserver* observer);

namespace detail {
// Calls `run(context, chunk, thread)` for every chunk, on up to thread_count() threads.
WEFT_API void run_chunks(Index chunks, void (*run)(const void* context, Index chunk, int thread),
                         const void* context);

template <class Body>
void call(const Body& body, Index begin, Index end, int thread) {
  if constexpr (std::is_invocable_v<const Body&, Index, Index, int>)
    body(begin, end, thread);
  else
    body(begin, end);
}
}  // namespace detail

// True when `parallel_for` here would use one thread: the maximum is 1, as it is inside a parallel
// region.
inline bool is_sequential() { return thread_count() == 1; }

// Calls `body(begin, end)` on consecutive ranges that cover 0 … count, each of `grain` items except
// the last. The ranges depend only on `count` and `grain`, never on the number of threads, so a
// body that sums only within its range gives the same bits on any number of threads. A single
// range, or a call from inside a parallel region, runs on the calling thread. A body that needs
// memory for each thread takes a third argument, the number of its thread: 0 … thread_count() - 1,
// as the caller of `parallel_for` sees it. When a body throws, the other ranges may run; then the
// exception of the first range that threw is thrown again.
//   parallel_for(n, 1024, [&](Index begin, Index end) {
//     for (Index i = begin; i < end; ++i) to[i] = 2 * from[i];
//   });
template <class Body>
void parallel_for(Index count, Index grain, const Body& body) {
  if (count <= 0) return;
  if (count <= grain) return detail::call(body, 0, count, 0);
  grain = std::max<Index>(grain, 1);
  struct Context {
    const Body& body;
    Index count;
    Index grain;
  } const context{body, count, grain};
  detail::run_chunks((count - 1) / grain + 1,
                     [](const void* opaque, Index chunk, int thread) {
                       const auto& [ranges, total, size] = *static_cast<const Context*>(opaque);
                       const Index begin = chunk * size;
                       detail::call(ranges, begin, begin + std::min(size, total - begin), thread);
                     },
                     &context);
}

// The number of items in a range of a few microseconds.
struct Grain {
  Index items;                                        // the number of items, > 0
  constexpr operator Index() const { return items; }  // `items`
};

// That of items which cost this many elementary operations each (a multiply-add, a load).
constexpr Grain grain_of(Index cost) {
  return {std::max<Index>(1, 16384 / std::max<Index>(1, cost))};
}

// As above, with ranges of a few microseconds: up to two of them are worth less than waking a
// thread, and run on the calling thread.
template <class Body>
void parallel_for(Index count, Grain grain, const Body& body) {
  if (grain.items == 1 || count > 2 * grain.items) return parallel_for(count, grain.items, body);
  for (Index begin = 0; begin < count; begin += grain.items)
    detail::call(body, begin, std::min(begin + grain.items, count), 0);
}

}  // namespace weft
