#include "tests/benchmarks/predicted_speedups.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/autograd/parallel.hpp>

namespace weft::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// A loop within a range of another loop.
struct InnerLoop {
  double seconds_before = 0.0;  // time since the end of the previous inner loop of the range
  std::vector<double> ranges;   // durations in seconds, as all others
};

struct Range {
  double seconds = 0.0;
  std::vector<InnerLoop> loops;
};

using Loop = std::vector<Range>;

double duration(const Loop& loop) {
  return std::accumulate(loop.begin(), loop.end(), 0.0,
                         [](double total, const Range& range) { return total + range.seconds; });
}

// Measures the ranges of loops, and of the loops within them, on a single thread.
class RangeTimer final : public ParallelObserver {
 public:
  RangeTimer() { observe_parallel(this); }
  ~RangeTimer() override { observe_parallel(nullptr); }
  void region_begins() override {
    if (depth_ == 0) return loops.emplace_back(), void();
    loops.back().back().loops.push_back({seconds_since(inner_end_), {}});
  }
  void region_ends() override {
    if (depth_ == 1) inner_end_ = Clock::now();
  }
  void range_begins(int /*thread*/) override {
    starts_[depth_] = inner_end_ = Clock::now();
    if (++depth_ > 1) return;
    loops.back().emplace_back();
    observe_parallel(this);  // the loops of this range, too
  }
  void range_ends(int /*thread*/) override {
    const double seconds = seconds_since(starts_[--depth_]);
    Range& range = loops.back().back();
    if (depth_ > 0) return range.loops.back().ranges.push_back(seconds);
    observe_parallel(nullptr);
    range.seconds = seconds;
  }

  std::vector<Loop> loops;

 private:
  int depth_ = 0;
  Clock::time_point starts_[2], inner_end_;
};

// Returns the time of a loop on `threads` threads whose ranges run on one thread each.
double time_on_threads(const Loop& loop, int threads) {
  std::vector<double> busy(static_cast<std::size_t>(threads));
  for (const Range& range : loop) *std::ranges::min_element(busy) += range.seconds;
  return std::ranges::max(busy);
}

// Simulates nested_parallel_for: each thread computes ranges of the loop, and threads for which no
// range is left compute ranges of the inner loops of the others.
class NestedLoop {
 public:
  explicit NestedLoop(const Loop& loop) : loop_(loop) {}

  double time_on_threads(int threads) {
    for (int thread = 0; thread < threads; ++thread) take_range(0.0);
    while (!owners_.empty()) {
      const auto [time, owner] = owners_.top();
      owners_.pop();
      advance(owner, time);
    }
    return end_;
  }

 private:
  // The thread that computes a range.
  struct Owner {
    const Range* range;
    std::size_t next_loop = 0;
  };
  using Event = std::pair<double, std::size_t>;  // when an owner reaches its next inner loop

  void take_range(double time) {
    if (next_range_ == loop_.size()) return idle_since_.push_back(time);
    owners_of_.push_back({&loop_[next_range_++]});
    schedule(owners_of_.size() - 1, time);
  }

  void schedule(std::size_t owner, double time) {
    const auto& [range, next] = owners_of_[owner];
    double rest = 0.0;
    if (next < range->loops.size()) {
      rest = range->loops[next].seconds_before;
    } else {
      rest = range->seconds;
      for (const InnerLoop& inner : range->loops) rest -= inner.seconds_before + sum(inner.ranges);
    }
    owners_.emplace(time + rest, owner);
  }

  // Computes the owner's next inner loop with the threads that are idle.
  void advance(std::size_t owner, double time) {
    auto& [range, next] = owners_of_[owner];
    if (next == range->loops.size()) {
      end_ = std::max(end_, time);
      return take_range(time);
    }
    double own_time = time;
    for (const double seconds : range->loops[next].ranges) {
      const auto idle = std::ranges::min_element(idle_since_);
      if (idle != idle_since_.end() && std::max(*idle, time) < own_time)
        *idle = std::max(*idle, time) + seconds,
        time_of_helpers_ = std::max(time_of_helpers_, *idle);
      else
        own_time += seconds;
    }
    ++next;
    schedule(owner, std::max(own_time, std::exchange(time_of_helpers_, 0.0)));
  }

  const Loop& loop_;
  std::size_t next_range_ = 0;
  std::deque<Owner> owners_of_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> owners_;
  std::vector<double> idle_since_;  // of each thread without a range
  double time_of_helpers_ = 0.0;    // when the last helper of the current inner loop has finished
  double end_ = 0.0;
};

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
    timer.loops.clear();
    const auto step_start = Clock::now();
    step();
    measured.push_back(seconds_since(step_start));
    for (const int threads : {2, 4, 8, 16, 32, 64}) {
      double time = measured.back();
      for (const Loop& loop : timer.loops) {
        // The loop over the parts of a batch takes most of a step.
        const bool is_nested = duration(loop) > 0.5 * measured.back();
        time += (is_nested ? NestedLoop(loop).time_on_threads(threads)
                           : time_on_threads(loop, threads)) -
                duration(loop);
      }
      predicted[threads].push_back(time);
    }
  } while (seconds_since(start) < seconds);
  std::map<int, double> speedups;
  for (const auto& [threads, times] : predicted)
    speedups[threads] = median(measured) / median(times);
  return speedups;
}

}  // namespace weft::benchmarks
