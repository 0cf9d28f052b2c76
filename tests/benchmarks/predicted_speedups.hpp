// predicted_speedups: the speed-up of a step on more threads, predicted from one thread.
#pragma once

#include <functional>
#include <map>

namespace weft::benchmarks {

// Returns the predicted speed-up of `step` for 2, 4, … 64 threads, by number of threads. Measures
// each range of each parallel loop for about `seconds`, after a first step, and assigns the ranges
// to the threads in order: the first free thread takes the next range. In the loop over the parts
// of a batch, threads without a part take ranges of the parts' own loops. The time outside of
// ranges stays the same. Passing a range to another thread is assumed to take no time, and memory
// bandwidth and caches to grow with the number of threads.
// Throws ValueError unless `thread_count()` is 1.
std::map<int, double> predicted_speedups(double seconds, const std::function<void()>& step);

}  // namespace weft::benchmarks
