// process_in and process_of: run a program of build/examples/ as a process.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "tests/examples/outcome.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

namespace weft {

// Runs a command of sh in a directory, with the programs in its PATH and one thread each; `output`
// and `errors` are what it wrote, except where it redirects them. The status of a process that a
// signal ended is 128 + the signal.
inline Outcome process_in(const TemporaryFolder& folder, const std::string& command) {
  const std::string script = "cd '" + folder.path().string() +
                             "' && PATH='" WEFT_PROGRAMS
                             "':$PATH && export OMP_NUM_THREADS=1 && { " +
                             command + "\n} > .output 2> .errors";
  const int status = std::system(script.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          bytes_of(folder / ".output"), bytes_of(folder / ".errors")};
}

// The same, in an empty directory.
inline Outcome process_of(const std::string& command) {
  return process_in(TemporaryFolder(), command);
}

// A command that runs `program`, sends it `signal` once it has written `text`, and waits for it.
// The program obeys SIGHUP below nohup, too.
inline std::string signalled(const std::string& program, const std::string& signal,
                             const std::string& text) {
  return "env --default-signal=HUP " + program + " > written & process=$!\n" +
         "for i in $(seq 600); do grep -q '" + text + "' written && break; sleep 0.05; done\n" +
         "kill -" + signal + " $process; wait $process; status=$?; cat written; exit $status";
}

}  // namespace weft
