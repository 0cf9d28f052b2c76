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

// Discards what is written to std::cout.
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

// Returns the exit status of `work`. If `work` throws, returns fail(message, exit status).
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

// Returns the number of processes started by mpirun, from the environment variable of Open MPI, or
// of MPICH and Slurm.
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
