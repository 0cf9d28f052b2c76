#include "tests/benchmarks/predicted_speedups.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/autograd/parallel.hpp>

namespace weft::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Measures the ranges of parallel loops on a single thread.
class RangeTimer final : public ParallelObserver {
 public:
  RangeTimer() { observe_parallel(this); }
  ~RangeTimer() override { observe_parallel(nullptr); }
  void region_begins() override { regions.emplace_back(); }
  void region_ends() override {}
  void range_begins(int /*thread*/) override { start_ = Clock::now(); }
  void range_ends(int /*thread*/) override { regions.back().push_back(seconds_since(start_)); }

  std::vector<std::vector<double>> regions;  // durations of the ranges of each region, in seconds

 private:
  Clock::time_point start_;
};

double time_on_threads(const std::vector<double>& ranges, int threads) {
  std::vector<double> busy(static_cast<std::size_t>(threads));
  for (const double range : ranges) *std::ranges::min_element(busy) += range;
  return std::ranges::max(busy);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

std::map<int, double> predicted_speedups(double seconds, const std::function<void()>& step) {
  if (thread_count() != 1) fail<ValueError>("threads", "1", thread_count());
  step();
  RangeTimer timer;
  std::vector<double> measured;
  std::map<int, std::vector<double>> predicted;
  const auto start = Clock::now();
  do {
    timer.regions.clear();
    const auto step_start = Clock::now();
    step();
    measured.push_back(seconds_since(step_start));
    for (const int threads : {2, 4, 8, 16, 32, 64}) {
      double time = measured.back();
      for (const std::vector<double>& ranges : timer.regions)
        time += time_on_threads(ranges, threads) - time_on_threads(ranges, 1);
      predicted[threads].push_back(time);
    }
  } while (seconds_since(start) < seconds);
  std::map<int, double> speedups;
  for (const auto& [threads, times] : predicted)
    speedups[threads] = median(measured) / median(times);
  return speedups;
}

}  // namespace weft::benchmarks
