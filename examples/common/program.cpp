#include "examples/common/program.hpp"

#include <exception>
#include <iostream>
#include <new>

#include "examples/common/command_line.hpp"
#include "examples/common/output_files.hpp"
#include "examples/common/standard_streams.hpp"

namespace weft::examples {

int run_program(const std::string& name, const std::function<int()>& work, int error_status) {
  try {
    const int status = work();
    if (flush_output(name) || status != 0) return status;
  } catch (const UsageError& error) {
    std::cerr << name << ": " << error.what() << " (see " << name << " --help)\n";
    return 2;
  } catch (const std::bad_alloc&) {
    std::cerr << name << ": out of memory\n";
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << '\n';
  }
  return error_status;
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
