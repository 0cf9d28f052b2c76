#include "autograd/runtime/team.hpp"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

// About what it takes to wake a thread.
constexpr auto spin_time = std::chrono::microseconds(50);

// Spins until `done()`, at most for `spin_time`. Returns whether it is done.
template <class Done>
bool spin_until(const Done& done) {
  const auto start = Clock::now();
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#endif
    }
  } while (Clock::now() - start < spin_time);
  return done();
}

thread_local bool running = false;

// Asks for short turns beside other work, of as much time in sum: a thread that wakes then need not
// wait for the end of the turn of another one (since Linux 6.12; without effect before).
void take_short_turns() {
  struct {  // sched_attr, which glibc has only since 2.41
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t nanoseconds, deadline, period;
  } attributes{};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0) return;
  if (attributes.policy != SCHED_OTHER && attributes.policy != SCHED_BATCH) return;
  attributes.nanoseconds = 100'000;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

// The sleep of one worker. Linux often wakes a thread on the core of the one that wakes it, where
// it would have to wait, so the sleeping worker is kept from that core until it runs.
class Sleep {
 public:
  // Called by the worker: before it sleeps, and when it runs again.
  void begin() { state_.store(State::asleep, std::memory_order_relaxed); }
  void end() {
    if (state_.exchange(State::awake, std::memory_order_acquire) == State::asleep_elsewhere)
      pthread_setaffinity_np(pthread_self(), sizeof(allowed_), &allowed_);
  }
  // Called by the thread that is about to wake the worker.
  bool is_begun() const { return state_.load(std::memory_order_relaxed) == State::asleep; }
  void move_elsewhere(pthread_t worker) {
    const int here = sched_getcpu();
    if (here < 0 || here >= CPU_SETSIZE) return;
    if (pthread_getaffinity_np(worker, sizeof(allowed_), &allowed_) != 0) return;
    cpu_set_t elsewhere = allowed_;
    CPU_CLR(static_cast<std::size_t>(here), &elsewhere);
    if (CPU_COUNT(&elsewhere) == 0) return;
    if (pthread_setaffinity_np(worker, sizeof(elsewhere), &elsewhere) != 0) return;
    State expected = State::asleep;
    if (!state_.compare_exchange_strong(expected, State::asleep_elsewhere,
                                        std::memory_order_release, std::memory_order_relaxed))
      pthread_setaffinity_np(worker, sizeof(allowed_), &allowed_);  // it has just woken by itself
  }

 private:
  enum class State { awake, asleep, asleep_elsewhere };

  std::atomic<State> state_ = State::awake;
  cpu_set_t allowed_;
};

}  // namespace

// A loop: what to run, and which chunks are left.
struct Team::Loop {
  // The chunks of one thread that nobody has taken; other threads take from it, too.
  struct alignas(64) Part {
    std::atomic<Index> next = 0;
    Index end = 0;
  };

  int threads = 0;
  Run run = nullptr;
  const void* context = nullptr;
  std::vector<Part> parts;  // of each thread
  std::mutex mutex;         // of the members below
  std::exception_ptr error;
  Index failed_chunk = 0;

  void run_chunk(Index chunk, int thread) {
    try {
      run(context, chunk, thread);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (error && failed_chunk < chunk) return;
      failed_chunk = chunk;
      error = std::current_exception();
    }
  }

  // Runs chunks until none is left: first the thread's own, then the others'.
  void run_chunks(int thread) {
    running = true;
    for (int i = 0; i < threads; ++i) {
      Part& part = parts[static_cast<std::size_t>((thread + i) % threads)];
      while (part.next.load(std::memory_order_relaxed) < part.end) {
        const Index chunk = part.next.fetch_add(1, std::memory_order_relaxed);
        if (chunk >= part.end) break;
        run_chunk(chunk, thread);
      }
    }
    running = false;
  }
};

// What the workers and the thread that starts loops share.
struct Team::Shared {
  // The state counts, from the low bits on: workers in the loop, 1 if the loop is open for more,
  // and loops. A worker is counted before it reads `loop`, which changes only when none is.
  static constexpr std::uint32_t one_worker = 1, workers = 0xFFF, open = 0x1000, one_loop = 0x2000;

  alignas(64) std::atomic<std::uint32_t> state = 0;
  std::atomic<bool> ended = false;
  // How often a closed loop was left by its last worker; the caller sleeps on it.
  alignas(64) std::atomic<std::uint32_t> completions = 0;
  Loop loop;

  void work(int thread, Sleep& sleep) {
    std::uint32_t seen = 0;  // the state without its workers
    for (;;) {
      std::uint32_t now = state.load(std::memory_order_acquire);
      const auto changed = [&] {
        now = state.load(std::memory_order_acquire);
        return ((now & ~workers) != seen && (now & open)) || ended.load(std::memory_order_relaxed);
      };
      if (!spin_until(changed)) {
        sleep.begin();
        while (!changed()) state.wait(now, std::memory_order_acquire);
        sleep.end();
      }
      if (ended.load(std::memory_order_acquire)) return;
      seen = now & ~workers;
      if (!join(now)) continue;
      if (thread < loop.threads) loop.run_chunks(thread);
      leave();
    }
  }

  // Counts this worker in if the loop is still the one of `expected` and open.
  bool join(std::uint32_t expected) {
    const std::uint32_t loop_seen = expected & ~workers;
    while (!state.compare_exchange_weak(expected, expected + one_worker, std::memory_order_acquire))
      if ((expected & ~workers) != loop_seen) return false;
    return true;
  }
  void leave() {
    const std::uint32_t before = state.fetch_sub(one_worker, std::memory_order_release);
    if ((before & open) || (before & workers) != one_worker) return;
    completions.fetch_add(1, std::memory_order_release);
    completions.notify_all();
  }

  // Lets the workers take part in `loop`.
  void open_loop() {
    state.fetch_add(one_loop + open, std::memory_order_release);
    state.notify_all();
  }
  // Waits for the workers that are in the loop; no other may join.
  void close_loop() {
    const auto alone = [&] { return (state.load(std::memory_order_acquire) & workers) == 0; };
    const std::uint32_t seen = completions.load(std::memory_order_relaxed);
    if ((state.fetch_sub(open, std::memory_order_acq_rel) & workers) == 0) return;
    if (!spin_until(alone)) completions.wait(seen, std::memory_order_acquire);
    while (!alone()) {
    }
  }
  void end() {
    ended.store(true, std::memory_order_release);
    state.fetch_add(one_loop, std::memory_order_release);
    state.notify_all();
  }
};

struct Team::Worker {
  std::shared_ptr<Sleep> sleep = std::make_shared<Sleep>();
  std::thread thread;
};

Team* Team::of_this_thread() {
  thread_local bool ended = false;
  thread_local struct Owner {
    Team team;
    ~Owner() { ended = true; }
  } owner;
  return ended ? nullptr : &owner.team;
}

bool Team::is_running() { return running; }

Team::Team() : shared_(std::make_shared<Shared>()), process_(getpid()) {}

Team::~Team() {
  if (process_ != getpid()) {
    for (Worker& worker : workers_) worker.thread.detach();
    return;
  }
  shared_->end();
  for (Worker& worker : workers_) worker.thread.join();
}

// Starts workers until there are `threads` threads, the caller among them. A library that would
// start threads of its own in a worker is limited to one.
void Team::hire(int threads) {
  workers_.reserve(static_cast<std::size_t>(threads));
  try {
    while (static_cast<int>(workers_.size()) + 1 < threads) {
      Worker worker;
      const int number = static_cast<int>(workers_.size()) + 1;
      worker.thread = std::thread([number, shared = shared_, sleep = worker.sleep] {
        omp_set_num_threads(1);
        take_short_turns();
        shared->work(number, *sleep);
      });
      workers_.push_back(std::move(worker));
    }
  } catch (const std::system_error&) {  // no more threads: those that there are will do
  }
}

void Team::run(int threads, Index chunks, Run run_chunk, const void* context) {
  if (static_cast<int>(workers_.size()) + 1 < threads) hire(threads);
  Loop& loop = shared_->loop;
  loop.threads = threads;
  loop.run = run_chunk;
  loop.context = context;
  if (loop.parts.size() < static_cast<std::size_t>(threads))
    loop.parts = std::vector<Loop::Part>(static_cast<std::size_t>(threads));
  Index begin = 0;
  for (Index i = 0; i < threads; ++i) {
    Loop::Part& part = loop.parts[static_cast<std::size_t>(i)];
    part.next.store(begin, std::memory_order_relaxed);
    part.end = begin += chunks / threads + (i < chunks % threads ? 1 : 0);
  }
  for (int i = 0; i < threads - 1 && i < static_cast<int>(workers_.size()); ++i) {
    Worker& worker = workers_[static_cast<std::size_t>(i)];
    if (worker.sleep->is_begun() && process_ == getpid())
      worker.sleep->move_elsewhere(worker.thread.native_handle());
  }
  shared_->open_loop();
  loop.run_chunks(0);
  shared_->close_loop();
  if (loop.error) std::rethrow_exception(std::exchange(loop.error, nullptr));
}

}  // namespace weft
