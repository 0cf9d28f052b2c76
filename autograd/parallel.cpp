#include "weft/autograd/parallel.hpp"

#include <omp.h>

#include "weft/autograd/error.hpp"
#include "autograd/runtime/team.hpp"

namespace weft {

int thread_limit() {
  static const int limit = std::max(16, 4 * omp_get_num_procs());  // a system call
  return limit;
}

int thread_count() {
  if (Team::is_running() || omp_in_parallel()) return 1;
  return std::clamp(omp_get_max_threads(), 1, thread_limit());
}

void set_thread_count(int threads) {
  if (threads < 1 || threads > thread_limit())
    fail<ValueError>("threads", concatenate_text("1 … ", thread_limit()), threads);
  omp_set_num_threads(threads);
}

namespace detail {

void run_chunks(Index chunks, void (*run)(const void*, Index, int), const void* context) {
  const auto threads = static_cast<int>(std::min<Index>(chunks, thread_count()));
  Team* team = threads > 1 ? Team::of_this_thread() : nullptr;
  if (team) return team->run(threads, chunks, run, context);
  for (Index chunk = 0; chunk < chunks; ++chunk) run(context, chunk, 0);
}

}  // namespace detail
}  // namespace weft
