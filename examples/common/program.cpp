#include "examples/common/program.hpp"

#include <exception>
#include <iostream>
#include <new>

#include "examples/common/command_line.hpp"

namespace weft::examples {

int run_program(const std::string& name, const std::function<int()>& work) {
  try {
    const int status = work();
    if (std::cout.flush()) return status;
    std::cerr << name << ": standard output: expected to be written to, got an error\n";
  } catch (const UsageError& error) {
    std::cerr << name << ": " << error.what() << " (see " << name << " --help)\n";
    return 2;
  } catch (const std::bad_alloc&) {
    std::cerr << name << ": out of memory\n";
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << '\n';
  }
  return 1;
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    fail<FileError>("folder '" + folder.string() + "'", "one that can be made", error.message());
}

int run_tour_program(int argc, char** argv, const std::string& name, const std::string& about,
                     const std::function<void(const std::filesystem::path& folder)>& work) {
  return run_program(name, [&] {
    std::string out = "build/tour";
    CommandLine line(name, about);
    line.option("out", "folder for pictures", out);
    if (!line.parse(argc, argv)) return 0;
    make_folder(out);
    work(out);
    return 0;
  });
}

}  // namespace weft::examples
