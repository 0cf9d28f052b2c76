// nested_parallel_for: loops over a few long tasks that contain loops themselves.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/parallel.hpp"

namespace weft {

namespace detail {
// Calls `run` like run_chunks, for nested_parallel_for.
WEFT_API void run_nested_chunks(Index chunks,
                                void (*run)(const void* context, Index chunk, int thread),
                                const void* context);
}  // namespace detail

// Calls `body(i)` for each i in [0, count). Threads for which no i is left compute ranges of the
// `parallel_for` loops in the other calls, so that all threads work until the end. The ranges of
// these inner loops are the same as elsewhere, and so are the bits of their results. In a body,
// `thread_count()` is the number of threads that may compute ranges of an inner loop; within a
// range of an inner loop, it is 1. Exceptions are rethrown as by `parallel_for`.
template <class Body>
void nested_parallel_for(Index count, const Body& body) {
  if (count == 1) return body(Index{0});  // inner loops use all threads
  if (count > 1)
    detail::run_nested_chunks(
        count, [](const void* opaque, Index i, int) { (*static_cast<const Body*>(opaque))(i); },
        &body);
}

// Returns true if a loop would now run on the calling thread alone: if `is_sequential()`, or in a
// body of nested_parallel_for while no thread is idle. Returns false while loops are observed, to
// show the ranges that several threads would compute.
WEFT_API bool is_alone();

}  // namespace weft
