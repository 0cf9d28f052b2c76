#include "weft/autograd/parallel.hpp"

#include <omp.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

// True in a process forked after a parallel region has started: OpenMP's threads do not exist
// there, and a region would wait for them forever.
std::atomic<bool> is_forked = false;

// The chunks of a loop, in consecutive queues. Each thread starts with its own queue (up to 8
// queues; more threads share them) and then takes chunks from other queues, so that no work waits
// for a slow thread.
class Chunks {
 public:
  Chunks(Index count, int threads) : used_(static_cast<std::size_t>(std::min(threads, 8))) {
    const Index length = count / std::ssize(queues()), longer = count % std::ssize(queues());
    Index begin = 0;
    for (Index i = 0; Queue & queue : queues()) {
      queue.next.store(begin, std::memory_order_relaxed);
      queue.end = begin += length + (i++ < longer ? 1 : 0);
    }
  }

  // Calls `run(chunk)` for chunks that no thread has taken, until none are left.
  template <class Run>
  void take(int thread, const Run& run) {
    for (std::size_t i = 0; i < used_; ++i) {
      Queue& queue = queues_[(static_cast<std::size_t>(thread) + i) % used_];
      while (queue.next.load(std::memory_order_relaxed) < queue.end) {
        const Index chunk = queue.next.fetch_add(1, std::memory_order_relaxed);
        if (chunk < queue.end) run(chunk);
      }
    }
  }

 private:
  struct alignas(64) Queue {
    std::atomic<Index> next = 0;
    Index end = 0;
  };
  std::span<Queue> queues() { return std::span(queues_).first(used_); }

  std::array<Queue, 8> queues_;
  std::size_t used_;
};

// The exception of the first chunk that threw.
class FirstError {
 public:
  void keep_current(Index chunk) {
    const std::lock_guard lock(mutex_);
    if (error_ && chunk_ < chunk) return;
    chunk_ = chunk;
    error_ = std::current_exception();
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
  Index chunk_ = 0;
};

}  // namespace

int thread_limit() {
  static const int limit = std::max(16, 4 * omp_get_num_procs());  // a system call
  return limit;
}

int thread_count() {
  if (omp_in_parallel() || is_forked.load(std::memory_order_relaxed)) return 1;
  return std::clamp(std::min(omp_get_max_threads(), omp_get_thread_limit()), 1, thread_limit());
}

void set_thread_count(int threads) {
  if (threads < 1 || threads > thread_limit())
    fail<ValueError>("threads", str_cat("a number from 1 to ", thread_limit()), threads);
  omp_set_num_threads(threads);
}

namespace {

thread_local ParallelObserver* parallel_observer = nullptr;

// A region that reports its ranges to an observer.
struct ObservedRegion {
  ParallelObserver& observer;
  void (*run)(const void*, Index, int);
  const void* context;

  ObservedRegion(ParallelObserver& shown_to, void (*function)(const void*, Index, int),
                 const void* argument)
      : observer(shown_to), run(function), context(argument) {
    parallel_observer = nullptr;  // a loop within a range is part of that range
    observer.region_begins();
  }
  ~ObservedRegion() {
    observer.region_ends();
    parallel_observer = &observer;
  }
  ObservedRegion(const ObservedRegion&) = delete;
  ObservedRegion& operator=(const ObservedRegion&) = delete;

  static void run_range(const void* opaque, Index chunk, int thread) {
    const ObservedRegion& region = *static_cast<const ObservedRegion*>(opaque);
    region.observer.range_begins(thread);
    region.run(region.context, chunk, thread);
    region.observer.range_ends(thread);
  }
};

}  // namespace

ParallelObserver* observe_parallel(ParallelObserver* observer) {
  return std::exchange(parallel_observer, observer);
}

namespace detail {

void run_chunks(Index count, void (*run)(const void*, Index, int), const void* context) {
  std::optional<ObservedRegion> observed;
  if (parallel_observer) {
    observed.emplace(*parallel_observer, run, context);
    run = ObservedRegion::run_range;
    context = &*observed;
  }
  const auto threads = static_cast<int>(std::min<Index>(count, thread_count()));
  if (threads == 1) {
    for (Index chunk = 0; chunk < count; ++chunk) run(context, chunk, 0);
    return;
  }
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { is_forked = true; });
  Chunks chunks(count, threads);
  FirstError error;
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    chunks.take(thread, [&](Index chunk) {
      try {
        run(context, chunk, thread);
      } catch (...) {
        error.keep_current(chunk);
      }
    });
  }
  error.rethrow();
}

}  // namespace detail
}  // namespace weft
