#include "weft/autograd/nested_parallel_for.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.hpp"
#include "tests/thread_count_guard.hpp"

namespace weft {
namespace {

void compute_for_a_while() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

// Returns a sum for each call, whose bits depend on the ranges of the inner loop.
std::vector<float> sums(Index calls, Index items) {
  std::vector<float> results(static_cast<std::size_t>(calls));
  nested_parallel_for(calls, [&](Index call) {
    constexpr Index grain = 7;
    std::vector<float> of_ranges(static_cast<std::size_t>((items + grain - 1) / grain));
    parallel_for(items, grain, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        of_ranges[static_cast<std::size_t>(begin / grain)] +=
            1.0f / static_cast<float>(1 + i + 1000 * call);
    });
    results[static_cast<std::size_t>(call)] =
        std::accumulate(of_ranges.begin(), of_ranges.end(), 0.0f);
  });
  return results;
}

}  // namespace

TEST_CASE("nested_parallel_for: the bits do not depend on the number of threads", "[autograd]") {
  for (const Index calls : {0, 1, 2, 3, 7, 40}) {
    std::vector<float> expected;
    {
      const ThreadCountGuard guard(1);
      expected = sums(calls, 500);
    }
    for (const int threads : {2, 3, 8}) {
      const ThreadCountGuard guard(threads);
      for (int repetition = 0; repetition < 20; ++repetition) CHECK(sums(calls, 500) == expected);
    }
  }
}

TEST_CASE("nested_parallel_for: threads without a call compute ranges of inner loops",
          "[autograd]") {
  const ThreadCountGuard guard(4);
  std::mutex mutex;
  std::set<std::thread::id> outer, inner;
  std::atomic<int> ranges = 0;
  nested_parallel_for(2, [&](Index call) {
    {
      const std::lock_guard lock(mutex);
      outer.insert(std::this_thread::get_id());
    }
    // The second call ends soon; its thread helps with the first one.
    parallel_for(call == 0 ? 100 : 1, 1, [&](Index, Index) {
      ++ranges;
      compute_for_a_while();
      const std::lock_guard lock(mutex);
      inner.insert(std::this_thread::get_id());
    });
  });
  CHECK(ranges == 101);
  CHECK(outer.size() <= 2);
  CHECK(inner.size() == 4);
}

TEST_CASE("nested_parallel_for: threads in an inner loop have different numbers", "[autograd]") {
  const ThreadCountGuard guard(4);
  std::atomic<int> wrong = 0;
  nested_parallel_for(2, [&](Index) {
    if (thread_count() != 4) ++wrong;
    std::vector<std::atomic<int>> running(4);
    for (int loop = 0; loop < 20; ++loop)
      parallel_for(50, 1, [&](Index, Index, int thread) {
        if (thread < 0 || thread >= 4) return void(++wrong);
        if (running[static_cast<std::size_t>(thread)]++ != 0) ++wrong;
        if (loop == 0) compute_for_a_while();
        running[static_cast<std::size_t>(thread)]--;
      });
  });
  CHECK(wrong == 0);
  CHECK(thread_count() == 4);
}

TEST_CASE("nested_parallel_for: a loop within an inner range runs on its thread", "[autograd]") {
  const ThreadCountGuard guard(3);
  std::atomic<int> wrong = 0, ranges = 0;
  nested_parallel_for(2, [&](Index call) {
    parallel_for(call == 0 ? 30 : 2, 1, [&](Index, Index) {
      const std::thread::id id = std::this_thread::get_id();
      if (!is_sequential() || !is_alone()) ++wrong;
      compute_for_a_while();
      const auto body = [&](Index, Index, int thread) {
        ++ranges;
        if (thread != 0 || std::this_thread::get_id() != id) ++wrong;
      };
      parallel_for(4, 1, body);
      nested_parallel_for(4, [&](Index) { parallel_for(2, 1, body); });
    });
  });
  CHECK(wrong == 0);
  CHECK(ranges == 32 * (4 + 8));
}

TEST_CASE("nested_parallel_for: within a call, a nested call also computes everything once",
          "[autograd]") {
  const ThreadCountGuard guard(4);
  std::vector<std::atomic<int>> visits(2 * 5 * 9);
  nested_parallel_for(2, [&](Index i) {
    nested_parallel_for(5, [&](Index j) {
      parallel_for(9, 2, [&](Index begin, Index end) {
        for (Index k = begin; k < end; ++k) ++visits[static_cast<std::size_t>((i * 5 + j) * 9 + k)];
      });
    });
  });
  CHECK(std::all_of(visits.begin(), visits.end(), [](const auto& n) { return n == 1; }));
}

TEST_CASE("nested_parallel_for: rethrows the first exception of inner and outer loops",
          "[autograd]") {
  const ThreadCountGuard guard(4);
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::atomic<int> caught = 0;
    const auto run = [&] {
      nested_parallel_for(3, [&](Index call) {
        try {
          parallel_for(40, 1, [&](Index i, Index) {
            if (i % 10 == 5) throw std::runtime_error(std::to_string(i));
          });
        } catch (const std::runtime_error& error) {
          if (error.what() == std::string("5")) ++caught;
        }
        if (call > 0) throw std::runtime_error("call " + std::to_string(call));
      });
    };
    CHECK_THROWS_WITH(run(), "call 1");
    CHECK(caught == 3);
    CHECK(thread_count() == 4);
  }
}

TEST_CASE("nested_parallel_for: with one call, inner loops use all threads", "[autograd]") {
  const ThreadCountGuard guard(3);
  bool in_region = true;
  nested_parallel_for(1, [&](Index) {
    in_region = omp_in_parallel() != 0;
    CHECK(thread_count() == 3);
    CHECK_FALSE(is_alone());
  });
  CHECK_FALSE(in_region);
}

TEST_CASE("nested_parallel_for: shows the outer loop to observers", "[autograd]") {
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
  const ThreadCountGuard guard(3);
  ParallelObserver* const before = observe_parallel(&counter);
  nested_parallel_for(4, [](Index) { parallel_for(10, 1, [](Index, Index) {}); });
  observe_parallel(before);
  CHECK(counter.regions == 1);
  CHECK(counter.open_regions == -1);
  CHECK(counter.ranges == 4);
  CHECK(counter.ended == 4);
  CHECK(counter.wrong == 0);
}

}  // namespace weft
