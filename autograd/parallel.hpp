// parallel_for: all of weft's parallel work, in OpenMP's parallel regions.
#pragma once

#include <algorithm>
#include <type_traits>

#include "weft/autograd/export.hpp"
#include "weft/autograd/shape.hpp"

namespace weft {

// Returns the maximum number of threads that `parallel_for` uses: OpenMP's setting
// (OMP_NUM_THREADS, omp_set_num_threads or `set_thread_count`, OMP_THREAD_LIMIT), capped at
// `thread_limit()`. It is 1 inside a range of a loop. It is also 1 in a child process forked after
// the first parallel region, because OpenMP's threads do not survive a fork. While several threads
// of the program are in loops, each loop uses fewer threads: they share the processors.
WEFT_API int thread_count();
// Sets the number of threads for all later work of the calling thread. Throws ValueError unless
// 1 ≤ threads ≤ `thread_limit()`.
WEFT_API void set_thread_count(int threads);
// Returns the largest number of threads allowed: four times the number of processors, but at least
// 16. More threads would only cost memory.
WEFT_API int thread_limit();

// Receives callbacks around parallel regions and their ranges, to measure them.
class WEFT_API ParallelObserver {
 public:
  virtual ~ParallelObserver() = default;
  virtual void region_begins() = 0;  // called on the thread that enters a region
  virtual void region_ends() = 0;    // called on that thread when it leaves the region
  // Called before a range is computed, on the thread that computes it. `thread` is the thread
  // number that `parallel_for` passes to its body.
  virtual void range_begins(int thread) = 0;
  virtual void range_ends(int thread) = 0;  // called after the range, unless its body throws
};
// Sets the observer of the regions that the calling thread enters from now on; null removes it.
// Returns the previous observer.
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

// Returns true if `parallel_for` would use only one thread here: if the maximum is 1, as it is
// inside a parallel region.
inline bool is_sequential() { return thread_count() == 1; }

// Calls `body(begin, end)` on consecutive ranges that cover [0, count). Each range has `grain`
// items; the last one may have fewer. The ranges depend only on `count` and `grain`, never on the
// number of threads, so a body that sums only within its range produces the same bits with any
// number of threads. A single range runs on the calling thread, and so does every range of a call
// from inside a parallel region. A body that needs memory for each thread takes a third argument,
// the number of its thread: 0 ≤ thread < n, where n is the caller's `thread_count()`. If a body
// throws, other ranges may still run before the exception is rethrown. If several ranges throw,
// only the exception of the first of these ranges is rethrown.
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

// A grain for ranges that take a few microseconds.
struct Grain {
  Index items;                                        // number of items in a range, > 0
  constexpr operator Index() const { return items; }  // number of items in a range
};

// Returns the grain for items that cost about `cost` elementary operations each (a multiply-add or
// a load).
constexpr Grain grain_of(Index cost) {
  return {std::max<Index>(1, 16384 / std::max<Index>(1, cost))};
}

// Calls `body` on ranges of `grain` items, which take a few microseconds each. One or two ranges of
// several items run on the calling thread, because waking another thread would cost more than it
// saves. Otherwise, behaves like `parallel_for` with a number of items.
template <class Body>
void parallel_for(Index count, Grain grain, const Body& body) {
  if (grain.items == 1 || count > 2 * grain.items) return parallel_for(count, grain.items, body);
  for (Index begin = 0; begin < count; begin += grain.items)
    detail::call(body, begin, std::min(begin + grain.items, count), 0);
}

}  // namespace weft
