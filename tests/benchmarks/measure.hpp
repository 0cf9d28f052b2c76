// Timing of something that is run again and again.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace weft::benchmarks {

// The median time of a call of `run`, in seconds, over `seconds` of calls after some that warm up;
// five calls at least. Calls too short for the clock are timed in groups.
template <class Run>
double median_seconds(double seconds, const Run& run) {
  using Clock = std::chrono::steady_clock;
  const auto timed = [&](int calls) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) run();
    return std::chrono::duration<double>(Clock::now() - start).count() / calls;
  };
  timed(2);
  const int group = std::clamp(static_cast<int>(20e-6 / timed(1)), 1, 1000);
  std::vector<double> times;
  const auto start = Clock::now();
  while (times.size() < 5 || std::chrono::duration<double>(Clock::now() - start).count() < seconds)
    times.push_back(timed(group));
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                   times.end());
  return times[times.size() / 2];
}

// The most memory that the process had at a time, in MiB.
inline double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

}  // namespace weft::benchmarks
