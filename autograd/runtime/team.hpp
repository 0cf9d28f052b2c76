// Team: the threads that run the chunks of a parallel loop together with the thread that started
// it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "weft/autograd/shape.hpp"

namespace weft {

// Waiting is bounded, so that a team is fast on an idle machine and does not disturb on a busy one:
// a thread that waits spins for about as long as waking it would take, and then sleeps. No loop
// waits for a thread that has not begun a chunk: each thread starts with its own part of the chunks
// and then takes those that others have not begun, so the thread that started the loop finishes it
// alone if the others do not get to run.
class Team {
 public:
  using Run = void (*)(const void* context, Index chunk, int thread);

  // The calling thread's team. Each thread that starts loops has its own. Null when the thread is
  // ending and has none any more.
  static Team* of_this_thread();
  // True within a chunk.
  static bool is_running();

  Team();
  // Waits for the threads to end; does nothing in a process that was forked off, as it has none.
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Calls run_chunk(context, chunk, thread) once for each chunk of 0 … chunks - 1, on up to
  // `threads` threads; `thread` is that one's number, 0 … threads - 1, the caller's being 0. When
  // the system gives no more threads, works with those that there are. After an exception the other
  // chunks still run; then the exception of the first chunk that threw is thrown again.
  void run(int threads, Index chunks, Run run_chunk, const void* context);

 private:
  struct Loop;
  struct Shared;
  struct Worker;

  void hire(int threads);

  std::shared_ptr<Shared> shared_;
  std::vector<Worker> workers_;
  int process_;
};

}  // namespace weft
