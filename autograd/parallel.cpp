#include "weft/autograd/parallel.hpp"

#include <omp.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/nested_parallel_for.hpp"

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
  Chunks(Index count, int threads)
      : used_(static_cast<std::size_t>(std::min<Index>({count, threads, 8}))) {
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

// A function of a chunk, with its context: the `run` and `context` of run_chunks.
struct ChunkFunction {
  void (*run)(const void* context, Index chunk, int thread);
  const void* context;

  void operator()(Index chunk, int thread) const { run(context, chunk, thread); }
};

// A loop whose chunks are taken by several threads.
struct Loop {
  Chunks chunks;
  ChunkFunction function;
  FirstError error = {};

  // Calls `after_chunk()` after each chunk.
  template <class AfterChunk>
  void take(int thread, const AfterChunk& after_chunk) {
    chunks.take(thread, [&](Index chunk) {
      try {
        function(chunk, thread);
      } catch (...) {
        error.keep_current(chunk);
      }
      after_chunk();
    });
  }
};

class Team;
// The team that computes the loops that this thread enters: null outside of nested_parallel_for,
// and within the ranges of its inner loops.
thread_local Team* current_team = nullptr;

// The threads of a nested_parallel_for.
class Team {
 public:
  Team(Index outer_chunks, int threads) : remaining_(outer_chunks), size_(threads) {}

  int size() const { return size_; }
  bool has_idle() const { return idle_.load(std::memory_order_relaxed) > 0; }

  // Computes an inner loop, together with idle threads.
  void run_inner(Loop& loop, int thread) {
    if (thread >= most_slots) return take_inner(loop, thread);
    Slot& slot = slots_[static_cast<std::size_t>(thread)];
    slot.loop = &loop;
    if (has_idle()) announce_change();
    take_inner(loop, thread);
    slot.loop = nullptr;
    // The helpers compute their last chunks.
    for (int i = 0; slot.helpers != 0; ++i) i < most_pauses ? pause() : std::this_thread::yield();
  }

  void outer_chunk_ends() {
    if (--remaining_ == 0) announce_change();
  }

  // Computes chunks of inner loops until all outer chunks have ended.
  void help(int thread) {
    ++idle_;
    while (remaining_ != 0) {
      const std::uint32_t changes = changes_;
      const int slots = std::min(size_, most_slots);
      for (int i = 1; i <= slots; ++i)
        help_with(slots_[static_cast<std::size_t>((thread + i) % slots)], thread);
      for (int i = 0; i < most_pauses && changes_ == changes; ++i) pause();
      if (remaining_ != 0) changes_.wait(changes);
    }
  }

 private:
  static constexpr int most_pauses = 2000;  // tens of microseconds
  static constexpr int most_slots = 64;     // further threads get no help

  // The inner loop of a thread.
  struct alignas(64) Slot {
    std::atomic<Loop*> loop = nullptr;
    std::atomic<int> helpers = 0;  // a loop exists until it has left its slot and has no helpers
  };

  static void help_with(Slot& slot, int thread) {
    if (!slot.loop) return;
    ++slot.helpers;
    if (Loop* const loop = slot.loop) take_inner(*loop, thread);
    --slot.helpers;
  }
  static void take_inner(Loop& loop, int thread) {
    Team* const team = std::exchange(current_team, nullptr);
    loop.take(thread, [] {});
    current_team = team;
  }
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  void announce_change() {
    ++changes_;
    changes_.notify_all();
  }

  std::atomic<Index> remaining_;            // outer chunks that have not ended
  std::atomic<std::uint32_t> changes_ = 0;  // wakes idle threads
  std::atomic<int> idle_ = 0;               // threads without an outer chunk
  int size_;                                // number of threads
  std::array<Slot, most_slots> slots_;      // one for each thread
};

int processor_count() {
  static const int count = omp_get_num_procs();  // a system call
  return count;
}

// The number of the program's threads that are in a loop for which they want several threads.
std::atomic<int> callers = 0;

// True within a loop that its thread runs alone because of other callers.
thread_local bool is_in_sequential_loop = false;

// Counts the calling thread among the callers, and divides the processors among them, so that they
// do not wait for each other's threads.
class Caller {
 public:
  Caller() { notice(++callers); }
  ~Caller() { notice(callers--); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  // Returns the number of threads for a loop that would use `threads` threads.
  int share(int threads) const {
    return most_ == 1 ? threads : std::clamp(processor_count() / most_, 1, threads);
  }

 private:
  static void notice(int count) {
    if (count < most_ && ++since_most_ < memory) return;
    most_ = count;
    since_most_ = 0;
  }

  // Loops are short, so the other callers are often between two loops.
  static constexpr int memory = 200;
  static thread_local int most_;        // the largest number of callers noticed lately
  static thread_local int since_most_;  // how often fewer callers have been noticed since
};

thread_local int Caller::most_ = 1;
thread_local int Caller::since_most_ = 0;

}  // namespace

int thread_limit() { return std::max(16, 4 * processor_count()); }

int thread_count() {
  if (is_forked.load(std::memory_order_relaxed)) return 1;
  if (current_team) return current_team->size();
  if (is_in_sequential_loop) return 1;
  if (omp_in_parallel()) return 1;
  return std::clamp(std::min(omp_get_max_threads(), omp_get_thread_limit()), 1, thread_limit());
}

void set_thread_count(int threads) {
  if (threads < 1 || threads > thread_limit())
    fail<ValueError>("threads", str_cat("a number from 1 to ", thread_limit()), threads);
  omp_set_num_threads(threads);
}

namespace {

thread_local ParallelObserver* parallel_observer = nullptr;

// Reports a region and its ranges to the observer, if there is one.
class ObservedRegion {
 public:
  // Replaces `function` by one that also reports.
  explicit ObservedRegion(ChunkFunction& function)
      : observer_(std::exchange(parallel_observer, nullptr)),  // a loop in a range belongs to it
        function_(function) {
    if (!observer_) return;
    observer_->region_begins();
    function = {run_range, this};
  }
  ~ObservedRegion() {
    if (!observer_) return;
    observer_->region_ends();
    parallel_observer = observer_;
  }
  ObservedRegion(const ObservedRegion&) = delete;
  ObservedRegion& operator=(const ObservedRegion&) = delete;

 private:
  static void run_range(const void* opaque, Index chunk, int thread) {
    const ObservedRegion& region = *static_cast<const ObservedRegion*>(opaque);
    region.observer_->range_begins(thread);
    region.function_(chunk, thread);
    region.observer_->range_ends(thread);
  }

  ParallelObserver* observer_;
  ChunkFunction function_;
};

// Computes a loop on the calling thread, because other callers use the processors.
void run_sequentially(Index count, ChunkFunction function) {
  const struct Restore {
    ~Restore() { is_in_sequential_loop = false; }
  } restore;
  is_in_sequential_loop = true;
  for (Index chunk = 0; chunk < count; ++chunk) function(chunk, 0);
}

// Computes a loop on `threads` > 1 threads. If `team` is not null, they then help each other. A
// loop of fewer chunks uses as many threads, because GCC's OpenMP ends and starts threads when
// their number changes between regions.
void run_region(Index count, int threads, ChunkFunction function, Team* team) {
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { is_forked = true; });
  Loop loop{Chunks(count, threads), function};
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    current_team = team;
    loop.take(thread, [team] {
      if (team) team->outer_chunk_ends();
    });
    if (team) team->help(thread);
    current_team = nullptr;
  }
  loop.error.rethrow();
}

}  // namespace

ParallelObserver* observe_parallel(ParallelObserver* observer) {
  return std::exchange(parallel_observer, observer);
}

bool is_alone() {
  if (parallel_observer) return false;  // it measures ranges for several threads
  return current_team ? !current_team->has_idle() : is_sequential();
}

namespace detail {

void run_chunks(Index count, void (*run)(const void*, Index, int), const void* context) {
  ChunkFunction function{run, context};
  const ObservedRegion observed(function);
  const int threads = count == 1 ? 1 : thread_count();
  if (threads == 1) {
    for (Index chunk = 0; chunk < count; ++chunk) function(chunk, 0);
  } else if (current_team) {
    Loop loop{Chunks(count, threads), function};
    current_team->run_inner(loop, omp_get_thread_num());
    loop.error.rethrow();
  } else if (const Caller caller; caller.share(threads) > 1) {
    run_region(count, caller.share(threads), function, nullptr);
  } else {
    run_sequentially(count, function);
  }
}

void run_nested_chunks(Index count, void (*run)(const void*, Index, int), const void* context) {
  if (is_sequential() || current_team) return run_chunks(count, run, context);
  ChunkFunction function{run, context};
  const ObservedRegion observed(function);
  const Caller caller;
  const int threads = caller.share(thread_count());
  if (threads == 1) return run_sequentially(count, function);
  Team team(count, threads);
  run_region(count, team.size(), function, &team);
}

}  // namespace detail
}  // namespace weft
