#include "weft/autograd/parallel.hpp"

#include <omp.h>

#include <exception>

#include "weft/autograd/error.hpp"

namespace weft {

int thread_limit() {
  static const int limit = std::max(16, 4 * omp_get_num_procs());  // a system call
  return limit;
}

int thread_count() { return std::clamp(omp_get_max_threads(), 1, thread_limit()); }

void set_thread_count(int threads) {
  if (threads < 1 || threads > thread_limit())
    fail<ValueError>("threads", concatenate_text("1 … ", thread_limit()), threads);
  omp_set_num_threads(threads);
}

namespace {
thread_local int current_thread_index = 0;
}  // namespace

int thread_index() { return current_thread_index; }

bool is_sequential() { return thread_count() == 1 || omp_in_parallel(); }

namespace detail {

void run_chunks(Index chunks, void (*run)(const void*, Index), const void* context) {
  const auto threads = static_cast<int>(std::min<Index>(chunks, thread_count()));
  if (threads <= 1 || is_sequential()) {
    for (Index chunk = 0; chunk < chunks; ++chunk) run(context, chunk);
    return;
  }
  std::exception_ptr error;
  Index failed_chunk = chunks;
#pragma omp parallel num_threads(threads)
  {
    current_thread_index = omp_get_thread_num();
#pragma omp for schedule(static)
    for (Index chunk = 0; chunk < chunks; ++chunk) {
      try {
        run(context, chunk);
      } catch (...) {
#pragma omp critical(weft_parallel_error)
        if (chunk < failed_chunk) {
          failed_chunk = chunk;
          error = std::current_exception();
        }
      }
    }
    current_thread_index = 0;
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace detail
}  // namespace weft
