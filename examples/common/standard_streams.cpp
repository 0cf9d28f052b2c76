#include "examples/common/standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <iostream>

namespace weft::examples {
namespace {

bool is_reported = false;

// Otherwise, the next opened file would have the number of a closed descriptor, and output would be
// written to that file.
void open_closed_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
      // Open in the opposite direction, so that reading or writing still fails.
      static_cast<void>(open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

void check_output_at_exit() {
  if (!is_reported && !flush_output(program_invocation_short_name)) _exit(EXIT_FAILURE);
}

[[maybe_unused]] const bool is_prepared = [] {
  open_closed_descriptors();
  std::atexit(check_output_at_exit);
  return true;
}();

}  // namespace

bool flush_output(const std::string& program) {
  if (std::cout.flush()) return true;
  std::cerr << program << ": cannot write to standard output\n";
  is_reported = true;
  return false;
}

}  // namespace weft::examples
