// ThreadCountGuard: another number of threads for a test.
#pragma once

#include <omp.h>

namespace weft {

// Sets OpenMP's number of threads, unchecked, and restores the old one.
class ThreadCountGuard {
 public:
  explicit ThreadCountGuard(int count) : previous_(omp_get_max_threads()) {
    omp_set_num_threads(count);
  }
  ~ThreadCountGuard() { omp_set_num_threads(previous_); }
  ThreadCountGuard(const ThreadCountGuard&) = delete;
  ThreadCountGuard& operator=(const ThreadCountGuard&) = delete;

 private:
  int previous_;
};

}  // namespace weft
