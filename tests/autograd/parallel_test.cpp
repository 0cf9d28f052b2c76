#include <omp.h>

#include <atomic>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/autograd/parallel.hpp>
#include "tests/catch.hpp"

namespace weft {
namespace {

// Sets OpenMP's number of threads, unchecked, and puts the old one back.
class Threads {
 public:
  explicit Threads(int count) : before_(omp_get_max_threads()) { omp_set_num_threads(count); }
  ~Threads() { omp_set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

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

TEST_CASE("parallel_for: ranges cover everything once, whatever the number of threads",
          "[autograd]") {
  const std::vector<std::pair<Index, Index>> expected = {{0, 4}, {4, 8}, {8, 10}};
  for (const int threads : {1, 2, 3, 8}) {
    const Threads set(threads);
    CHECK(ranges(10, 4) == expected);
    CHECK(ranges(0, 4).empty());
    CHECK(ranges(3, 4).size() == 1);
    CHECK(ranges(3, 0).size() == 3);
  }
}

TEST_CASE("parallel_for: the exception of the first range that threw reaches the caller",
          "[autograd]") {
  for (const int threads : {1, 2, 8}) {
    const Threads set(threads);
    CHECK_THROWS_WITH(parallel_for(100, 1,
                                   [](Index begin, Index) {
                                     if (begin % 10 == 7)
                                       throw std::runtime_error("range " + std::to_string(begin));
                                   }),
                      "range 7");
    CHECK(ranges(100, 1).size() == 100);
  }
}

TEST_CASE("parallel_for: inside of itself it runs on the thread that calls it", "[autograd]") {
  const Threads set(3);
  std::atomic<Index> sum = 0;
  parallel_for(10, 1, [&](Index outer, Index) {
    const auto thread = std::this_thread::get_id();
    parallel_for(10, 1, [&](Index inner, Index) {
      if (std::this_thread::get_id() == thread) sum += 10 * outer + inner;
    });
  });
  CHECK(sum == 4950);
}

TEST_CASE("parallel_for: two threads may use it at once", "[autograd]") {
  std::vector<Index> sums(2);
  const auto work = [&sums](std::size_t which) {
    for (int round = 0; round < 50; ++round) {
      std::vector<Index> items(1000);
      parallel_for(1000, 10, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) items[static_cast<std::size_t>(i)] = i;
      });
      sums[which] += std::accumulate(items.begin(), items.end(), Index{0});
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  CHECK(sums[0] == 50 * 499500);
  CHECK(sums[1] == 50 * 499500);
}

TEST_CASE("threads: a million of them are asked for, a sensible number is used", "[autograd]") {
  const Threads set(1000000);
  CHECK(thread_count() == thread_limit());
  CHECK(ranges(100000, 1).size() == 100000);
}

TEST_CASE("threads: the number is set within its limits", "[autograd]") {
  const Threads back(omp_get_max_threads());
  set_thread_count(3);
  CHECK(thread_count() == 3);
  CHECK_THROWS_AS(set_thread_count(0), ValueError);
  CHECK_THROWS_AS(set_thread_count(-1), ValueError);
  CHECK_THROWS_AS(set_thread_count(thread_limit() + 1), ValueError);
  CHECK(thread_count() == 3);
}

TEST_CASE("threads: each that runs has an index of its own", "[autograd]") {
  const Threads set(4);
  CHECK(thread_index() == 0);
  std::atomic<bool> inside = true;
  std::vector<std::atomic<int>> users(4);
  parallel_for(64, 1, [&](Index, Index) {
    const int index = thread_index();
    if (index < 0 || index >= 4) return inside.store(false);
    if (users[static_cast<std::size_t>(index)]++ != 0) inside = false;
    std::this_thread::yield();
    --users[static_cast<std::size_t>(index)];
  });
  CHECK(inside);
  CHECK(thread_index() == 0);
}

}  // namespace weft
