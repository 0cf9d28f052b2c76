#include "examples/common/program.hpp"

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

int run(const ProcessGroup& processes, const std::string& name, const std::function<int()>& work,
        int error_status) {
  try {
    const int status = work();
    if (flush_output(name) || status != 0) return status;
  } catch (const UsageError& error) {
    return processes.abort(str_cat(name, ": ", error.what(), " (see ", name, " --help)"), 2);
  } catch (const std::bad_alloc&) {
    return processes.abort(name + ": out of memory", error_status);
  } catch (const std::exception& error) {
    return processes.abort(str_cat(name, ": ", error.what()), error_status);
  }
  return error_status;
}

}  // namespace

int run_training(const std::string& name, const std::function<int(ProcessGroup&)>& work,
                 int error_status) {
  ProcessGroup processes;
  std::optional<Silence> silence;
  if (!processes.is_root()) silence.emplace();
  return run(
      processes, name, [&] { return work(processes); }, error_status);
}

int run_program(const std::string& name, const std::function<int()>& work, int error_status) {
  return run_training(
      name,
      [&](const ProcessGroup& processes) {
        if (processes.size() > 1)
          fail<UsageError>("mpirun", "one process for a command that does not train",
                           processes.size());
        return work();
      },
      error_status);
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
