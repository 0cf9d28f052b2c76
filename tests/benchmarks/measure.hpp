// Measurement of time and memory.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace weft::benchmarks {

// The median time of a call of `run`, in seconds. Calls it for at least `seconds` and five times,
// after warmup calls. Calls that are short for the clock's resolution are timed in groups.
template <class Run>
double median_seconds(double seconds, const Run& run) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_per_call = [&](int calls) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) run();
    return std::chrono::duration<double>(Clock::now() - start).count() / calls;
  };
  seconds_per_call(2);
  const int group = std::clamp(static_cast<int>(20e-6 / seconds_per_call(1)), 1, 1000);
  std::vector<double> times;
  const auto start = Clock::now();
  while (times.size() < 5 || std::chrono::duration<double>(Clock::now() - start).count() < seconds)
    times.push_back(seconds_per_call(group));
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                   times.end());
  return times[times.size() / 2];
}

// The mean time of the calls of `run` in about `seconds`, in seconds, after a warmup of a tenth.
template <class Run>
double mean_seconds(double seconds, const Run& run) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const auto warmup = Clock::now();
  do run();
  while (seconds_since(warmup) < seconds / 10);
  const auto start = Clock::now();
  double calls = 0.0;
  do {
    run();
    ++calls;
  } while (seconds_since(start) < seconds);
  return seconds_since(start) / calls;
}

// The peak resident memory of the process, in MiB.
inline double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

}  // namespace weft::benchmarks
