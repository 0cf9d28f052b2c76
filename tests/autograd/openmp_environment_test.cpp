// OpenMP's environment variables, each in a process of its own, as they are read at its start.
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include <weft/autograd/parallel.hpp>
#include "tests/catch.hpp"

namespace weft {
namespace {

// Of a thread that is not the main one.
std::size_t stack_size() {
  pthread_attr_t attributes;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  pthread_attr_getstacksize(&attributes, &size);
  pthread_attr_destroy(&attributes);
  return size;
}

bool is_llvm_openmp() { return dlsym(RTLD_DEFAULT, "__kmpc_fork_call") != nullptr; }

// What the hidden test case below prints with these variables set.
std::string report_with(const std::string& environment) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command = "env " + environment + " '" + program + "' '[.report]' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  std::array<char, 256> part;
  while (fgets(part.data(), part.size(), pipe)) output += part.data();
  pclose(pipe);
  return output;
}

}  // namespace

TEST_CASE("threads: report what the process uses", "[.report]") {
  std::set<std::thread::id> threads;
  std::size_t stack = 0;
  int processors = 0;
  std::mutex mutex;
  const auto main_thread = std::this_thread::get_id();
  parallel_for(64, 1, [&](Index, Index) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    if (std::this_thread::get_id() == main_thread) return;
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof(allowed), &allowed);
    processors = CPU_COUNT(&allowed);
    stack = stack_size();
  });
  std::cout << "count " << thread_count() << " used " << threads.size() << " stack MiB "
            << (stack >> 20) << " processors " << processors << std::endl;
}

TEST_CASE("threads: OMP_NUM_THREADS and OMP_THREAD_LIMIT say how many", "[autograd]") {
  CHECK_THAT(report_with("OMP_NUM_THREADS=1"), Catch::Contains("count 1 used 1 "));
  CHECK_THAT(report_with("OMP_NUM_THREADS=3"), Catch::Contains("count 3 used 3 "));
  CHECK_THAT(report_with("OMP_NUM_THREADS=4,2"), Catch::Contains("count 4 used 4 "));
  CHECK_THAT(report_with("OMP_NUM_THREADS=4 OMP_THREAD_LIMIT=2"),
             Catch::Contains("count 2 used 2 "));
  CHECK_THAT(report_with("OMP_NUM_THREADS=4 OMP_THREAD_LIMIT=1"),
             Catch::Contains("count 1 used 1 "));
  const std::string limit = std::to_string(thread_limit());
  CHECK_THAT(report_with("OMP_NUM_THREADS=1000000"), Catch::Contains("count " + limit + " "));
  CHECK_THAT(report_with("OMP_NUM_THREADS=0"), Catch::Contains("used "));
  if (is_llvm_openmp())
    WARN("OMP_NUM_THREADS=abc: not tested, because LLVM's OpenMP may abort or hang in any program");
  else
    CHECK_THAT(report_with("OMP_NUM_THREADS=abc"), Catch::Contains("used "));
}

TEST_CASE("threads: OMP_STACKSIZE and OMP_PROC_BIND apply to them", "[autograd]") {
  // LLVM's OpenMP adds a few cache lines.
  CHECK_THAT(report_with("OMP_NUM_THREADS=2 OMP_STACKSIZE=3M"), Catch::Contains("stack MiB 3 "));
  const std::string all = std::to_string(omp_get_num_procs());
  CHECK_THAT(report_with("OMP_NUM_THREADS=2 OMP_PROC_BIND=true"),
             Catch::Contains("processors 1\n"));
  CHECK_THAT(report_with("OMP_NUM_THREADS=2 OMP_PROC_BIND=false"),
             Catch::Contains("processors " + all + "\n"));
}

}  // namespace weft
