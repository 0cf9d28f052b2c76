#include "examples/common/program.hpp"

#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <streambuf>

#include "examples/common/command_line.hpp"
#include "examples/common/output_files.hpp"
#include "examples/common/standard_streams.hpp"

namespace weft::examples {

namespace {

// Takes what is written to std::cout.
class Silence : public std::streambuf {
 public:
  Silence() : before_(std::cout.rdbuf(this)) {}
  ~Silence() override { std::cout.rdbuf(before_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  int_type overflow(int_type character) override { return traits_type::not_eof(character); }

  std::streambuf* before_;
};

// Calls `work`, which returns an exit status. Calls fail(message, exit status), which does as well,
// if it throws.
template <class Work, class Fail>
int run(const std::string& name, const Work& work, int error_status, const Fail& fail) {
  try {
    const int status = work();
    if (flush_output(name) || status != 0) return status;
  } catch (const UsageError& error) {
    return fail(str_cat(name, ": ", error.what(), " (see ", name, " --help)"), 2);
  } catch (const std::bad_alloc&) {
    return fail(name + ": out of memory", error_status);
  } catch (const std::exception& error) {
    return fail(str_cat(name, ": ", error.what()), error_status);
  }
  return error_status;
}

// The number of processes that mpirun says it has started: Open MPI's, or MPICH's and Slurm's.
std::string launched_processes() {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* const number = std::getenv(name)) return number;
  return "1";
}

}  // namespace

int run_training(const std::string& name, const std::function<int(ProcessGroup&)>& work,
                 int error_status) {
  ProcessGroup processes;
  std::optional<Silence> silence;
  if (!processes.is_root()) silence.emplace();
  return run(
      name, [&] { return work(processes); }, error_status,
      [&](const std::string& message, int status) { return processes.abort(message, status); });
}

int run_program(const std::string& name, const std::function<int()>& work, int error_status) {
  return run(
      name,
      [&] {
        if (const std::string number = launched_processes(); number != "1")
          fail<UsageError>("mpirun", "one process for a command that does not train", number);
        return work();
      },
      error_status,
      [](const std::string& message, int status) {
        std::cerr << message << std::endl;
        return status;
      });
}

int run_tour_program(int argc, char** argv, const std::string& name, const std::string& about,
                     const std::function<void(const std::filesystem::path& directory)>& work) {
  return run_program(name, [&] {
    std::string out = "build/tour";
    CommandLine line(name, about);
    line.option("out", "output directory for plots", out);
    if (!line.parse(argc, argv)) return 0;
    make_directory(out);
    work(out);
    return 0;
  });
}

}  // namespace weft::examples
