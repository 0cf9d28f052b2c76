#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/autograd/nested_parallel_for.hpp>
#include <weft/autograd/parallel.hpp>
#include "tests/catch.hpp"
#include "tests/thread_count_guard.hpp"

namespace weft {
namespace {

std::vector<std::pair<Index, Index>> ranges(Index count, Index grain) {
  std::vector<std::pair<Index, Index>> found;
  std::mutex mutex;
  parallel_for(count, grain, [&](Index begin, Index end) {
    const std::lock_guard lock(mutex);
    found.emplace_back(begin, end);
  });
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

TEST_CASE("observe_parallel: each region and each range is shown once", "[autograd]") {
  struct Counter final : ParallelObserver {
    void region_begins() override { ++regions; }
    void region_ends() override { --open_regions; }
    void range_begins(int thread) override {
      ++ranges;
      if (thread < 0 || thread >= 3) ++wrong;
    }
    void range_ends(int) override { ++ended; }
    int regions = 0, open_regions = 0;
    std::atomic<int> ranges = 0, ended = 0, wrong = 0;
  } counter;
  for (const int threads : {1, 3}) {
    const ThreadCountGuard guard(threads);
    counter.regions = counter.open_regions = 0;
    counter.ranges = counter.ended = 0;
    ParallelObserver* const before = observe_parallel(&counter);
    // A loop within a range is part of the range.
    parallel_for(10, 4, [](Index, Index) { parallel_for(10, 4, [](Index, Index) {}); });
    CHECK_THROWS_AS(parallel_for(20, 1, [](Index, Index) { throw 1; }), int);
    CHECK(observe_parallel(before) == &counter);
    parallel_for(10, 4, [](Index, Index) {});
    CHECK(counter.regions == 2);
    CHECK(counter.open_regions == -2);
    CHECK(counter.ranges >= 4);
    CHECK(counter.wrong == 0);
  }
}

TEST_CASE("parallel_for: ranges cover each item once, for any number of threads", "[autograd]") {
  const std::vector<std::pair<Index, Index>> expected = {{0, 4}, {4, 8}, {8, 10}};
  for (const int threads : {1, 2, 3, 8}) {
    const ThreadCountGuard guard(threads);
    CHECK(ranges(10, 4) == expected);
    CHECK(ranges(0, 4).empty());
    CHECK(ranges(3, 4).size() == 1);
    CHECK(ranges(3, 0).size() == 3);
  }
}

TEST_CASE("parallel_for: rethrows the exception of the first range that threw", "[autograd]") {
  for (const int threads : {1, 2, 8}) {
    const ThreadCountGuard guard(threads);
    CHECK_THROWS_WITH(parallel_for(100, 1,
                                   [](Index begin, Index) {
                                     if (begin == 7)  // after others have thrown
                                       std::this_thread::sleep_for(std::chrono::milliseconds(2));
                                     if (begin % 10 == 7)
                                       throw std::runtime_error("range " + std::to_string(begin));
                                   }),
                      "range 7");
    CHECK(ranges(100, 1).size() == 100);
  }
}

TEST_CASE("parallel_for: a nested call runs on the calling thread", "[autograd]") {
  const ThreadCountGuard guard(3);
  std::atomic<Index> sum = 0;
  parallel_for(10, 1, [&](Index outer, Index) {
    const auto thread = std::this_thread::get_id();
    parallel_for(10, 1, [&](Index inner, Index) {
      if (std::this_thread::get_id() == thread) sum += 10 * outer + inner;
    });
  });
  CHECK(sum == 4950);
}

TEST_CASE("parallel_for: two threads may call it concurrently", "[autograd]") {
  std::vector<Index> sums(2);
  const auto work = [&sums](std::size_t index) {
    for (int round = 0; round < 50; ++round) {
      std::vector<Index> items(1000);
      parallel_for(1000, 10, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) items[static_cast<std::size_t>(i)] = i;
      });
      sums[index] += std::accumulate(items.begin(), items.end(), Index{0});
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  CHECK(sums[0] == 50 * 499500);
  CHECK(sums[1] == 50 * 499500);
}

namespace {

// Another thread, which is in a loop on two threads until `end` is called.
class OtherCaller {
 public:
  OtherCaller()
      : thread_([this] {
          omp_set_num_threads(2);
          parallel_for(2, 1, [this](Index, Index) {
            is_running_ = true;
            while (!is_done_) std::this_thread::yield();
          });
        }) {
    while (!is_running_) std::this_thread::yield();
  }
  void end() {
    is_done_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> is_running_ = false, is_done_ = false;
  std::thread thread_;
};

}  // namespace

TEST_CASE("parallel_for: callers at the same time share the processors", "[autograd]") {
  const int processors = omp_get_num_procs();
  const int wanted = std::max(4, processors);
  const ThreadCountGuard guard(wanted);
  OtherCaller other;
  std::atomic<int> wrong = 0;
  const auto check_threads = [&](int expected, bool is_nested) {
    parallel_for(64, 1, [&](Index, Index) {
      if (omp_get_num_threads() != expected) ++wrong;
      if (is_nested && thread_count() != 1) ++wrong;
    });
  };
  check_threads(std::max(1, processors / 2), true);
  other.end();
  check_threads(std::max(1, processors / 2), true);
  CHECK(thread_count() == wanted);
  CHECK(wrong == 0);
  // Soon, a thread without others uses all its threads again.
  for (int i = 0; i < 200; ++i) parallel_for(2, 1, [](Index, Index) {});
  check_threads(wanted, true);
  CHECK(wrong == 0);
}

TEST_CASE("nested_parallel_for: callers at the same time share the processors", "[autograd]") {
  const ThreadCountGuard guard(4);
  std::atomic<int> wrong = 0;
  OtherCaller other;
  const int expected = std::clamp(omp_get_num_procs() / 2, 1, 4);
  nested_parallel_for(8, [&](Index) {
    if (omp_get_num_threads() != expected) ++wrong;
  });
  other.end();
  CHECK(wrong == 0);
  for (int i = 0; i < 200; ++i) parallel_for(2, 1, [](Index, Index) {});
}

TEST_CASE("threads: a request for a million is limited", "[autograd]") {
  const ThreadCountGuard guard(1000000);
  CHECK(thread_count() == thread_limit());
  CHECK(ranges(100000, 1).size() == 100000);
}

TEST_CASE("threads: set_thread_count accepts numbers within the limits only", "[autograd]") {
  const ThreadCountGuard guard(omp_get_max_threads());
  set_thread_count(3);
  CHECK(thread_count() == 3);
  CHECK_THROWS_AS(set_thread_count(0), ValueError);
  CHECK_THROWS_AS(set_thread_count(-1), ValueError);
  CHECK_THROWS_AS(set_thread_count(thread_limit() + 1), ValueError);
  CHECK(thread_count() == 3);
}

TEST_CASE("parallel_for: each running thread has its own number", "[autograd]") {
  const ThreadCountGuard guard(4);
  std::atomic<bool> inside = true;
  std::vector<std::atomic<int>> users(4);
  parallel_for(64, 1, [&](Index, Index, int thread) {
    if (thread < 0 || thread >= 4) return inside.store(false);
    if (users[static_cast<std::size_t>(thread)]++ != 0) inside = false;
    std::this_thread::yield();
    --users[static_cast<std::size_t>(thread)];
  });
  CHECK(inside);
}

TEST_CASE("parallel_for: within one, there is one thread, numbered 0", "[autograd]") {
  const ThreadCountGuard guard(3);
  std::atomic<int> wrong = 0;
  const auto check = [&](Index, Index, int thread) {
    if (thread != 0 || thread_count() != 1) ++wrong;
  };
  const auto nested = [&](Index, Index) {
    if (thread_count() != 1 || !is_sequential()) ++wrong;
    parallel_for(1, 1, check);  // one range
    parallel_for(5, 1, check);  // several
  };
  parallel_for(64, 1, nested);
  CHECK(wrong == 0);
  CHECK(thread_count() == 3);
}

TEST_CASE("parallel_for: within a parallel region of OpenMP, there is one thread", "[autograd]") {
  const ThreadCountGuard guard(3);
  std::atomic<int> wrong = 0;
#pragma omp parallel num_threads(2)
  {
    if (thread_count() != 1) ++wrong;
    parallel_for(5, 1, [&](Index, Index, int thread) {
      if (thread != 0) ++wrong;
    });
  }
  CHECK(wrong == 0);
}

TEST_CASE("parallel_for: a thread that is done takes the ranges of others", "[autograd]") {
  // The first range ends after all others, of which the same thread would have run some.
  for (const int threads : {2, 3, 12}) {
    const ThreadCountGuard guard(threads);
    std::atomic<int> done = 0;
    parallel_for(48, 1, [&](Index begin, Index) {
      const auto start = std::chrono::steady_clock::now();
      while (begin == 0 && done < 47 &&
             std::chrono::steady_clock::now() - start < std::chrono::seconds(20))
        std::this_thread::yield();
      if (begin > 0 || done == 47) ++done;
    });
    CHECK(done == 48);
  }
}

TEST_CASE("parallel_for: a process that was forked off computes on one thread", "[autograd]") {
  const ThreadCountGuard guard(3);
  const auto sums = [] {
    std::vector<double> sums_of_ranges(100);
    parallel_for(100'000, 1'000, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        sums_of_ranges[static_cast<std::size_t>(begin / 1'000)] += 0.1 * static_cast<double>(i);
    });
    return sums_of_ranges;
  };
  const std::vector<double> expected = sums();
  const pid_t child = fork();
  if (child == 0) std::_Exit(thread_count() == 1 && sums() == expected ? 0 : 1);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(thread_count() == 3);
}

TEST_CASE("parallel_for: up to two short ranges run on the calling thread", "[autograd]") {
  const ThreadCountGuard guard(3);
  const auto is_in_region = [](Index count, Grain grain) {
    std::atomic<bool> region = false;
    std::atomic<Index> sum = 0;
    parallel_for(count, grain, [&](Index begin, Index end) {
      if (is_sequential()) region = true;
      if (end - begin <= grain.items) sum += end - begin;
    });
    CHECK(sum == count);
    return region.load();
  };
  CHECK_FALSE(is_in_region(0, grain_of(1)));
  CHECK_FALSE(is_in_region(2 * 16384, grain_of(1)));
  CHECK(is_in_region(2 * 16384 + 1, grain_of(1)));
  CHECK_FALSE(is_in_region(4, grain_of(16384 / 2)));
  CHECK(is_in_region(2, grain_of(16384)));  // long items
}

// Run by tests/sanitize.sh, to show that the thread sanitizer finds a race between ranges.
TEST_CASE("parallel_for: ranges that write one element", "[.race]") {
  const ThreadCountGuard guard(2);
  volatile Index sum = 0;
  // The sanitizer misses one race in about twenty.
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> running = 0;
    parallel_for(2, 1, [&](Index begin, Index) {
      // Two threads, without an order of memory between them.
      running.fetch_add(1, std::memory_order_relaxed);
      while (running.load(std::memory_order_relaxed) < 2) std::this_thread::yield();
      for (int i = 0; i < 1000; ++i) sum = sum + begin + 1;
    });
  }
  CHECK(sum > 0);
}

TEST_CASE("parallel_for: ranges of a count near the largest do not overflow", "[autograd]") {
  const ThreadCountGuard guard(2);
  constexpr Index most = std::numeric_limits<Index>::max();
  const std::vector<std::pair<Index, Index>> expected = {{0, most - 1}, {most - 1, most}};
  CHECK(ranges(most, most - 1) == expected);
}

}  // namespace weft
