// ProcessGroup: the processes that train a model together, started by mpirun.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"

namespace weft {

class Transport;

// The processes of `mpirun -n 4 program`. Each process creates one ProcessGroup and passes it to
// its trainers (see TrainerOptions::processes). If the program was started directly, the group
// contains only that process and costs nothing.
//
// All processes must call the functions marked as collective, in the same order. These functions
// throw Error if another process cannot be reached. A process may have at most one group, and only
// one thread at a time may use it. Destroy it when everything is done: if an exception destroys it,
// the process ends without finalizing MPI, and mpirun then ends the other processes.
//   ProcessGroup processes;
//   if (processes.is_root()) std::cout << processes.size() << " processes\n";
class WEFT_API ProcessGroup {
 public:
  // Throws Error for a second group in the process, and if mpirun started several processes but
  // weft was built without MPI.
  ProcessGroup();
  ~ProcessGroup();
  // Returns *processes, or a group of this process alone if `processes` is null.
  static ProcessGroup& or_self(ProcessGroup* processes);
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const { return rank_; }  // the number of this process, from 0
  int size() const { return size_; }  // the number of processes
  // Whether this is the root process, the one that reads and writes files and prints.
  bool is_root() const { return rank_ == 0; }

  // Prints an error message to standard error as one line and ends all processes with the exit
  // status. Call it where the program handles its exceptions. If all processes fail, the root
  // prints the message and ends them all: the other processes wait one second before they print.
  // Returns `exit_status` if the process is alone.
  int abort(const std::string& message, int exit_status = 1) const;

  // Collective: runs `work` in all processes and returns when all of them have finished it. If it
  // throws in one process, the other processes throw an Error that names that process, as soon as
  // they wait for another process. Within another `run_collectively`, it just runs `work`. Throws
  // ValueError for an empty function.
  void run_collectively(const std::function<void()>& work);

  // Collective: copies the bytes of process `from` to all processes.
  void broadcast(std::span<std::byte> bytes, int from = 0);
  // Collective: returns the string of process `from`.
  std::string broadcast(std::string text, int from = 0);
  // Collective: returns the strings of all processes, by rank.
  std::vector<std::string> all_gather(const std::string& text);
  // Collective: replaces each value by its sum over all processes, added in the order of the ranks.
  void all_reduce(std::span<double> values);
  // Collective: calls `read` in the root process only, for example to read a file, and returns its
  // result in all processes. If `read` throws, all processes throw, as in `run_collectively`.
  // Throws ValueError for an empty function.
  std::string broadcast_from_root(const std::function<std::string()>& read);

  // Sends bytes to process `to`, which must receive the same number of bytes. Throws Error if the
  // process cannot be reached.
  void send(std::span<const std::byte> bytes, int to);
  // Waits for bytes from process `from`. Throws Error if the process cannot be reached.
  void receive(std::span<std::byte> bytes, int from);

  // Returns the number of bytes of gradients and weights that this process has sent.
  std::int64_t bytes_sent() const;

  // Returns the connection to the other processes; null if the process is alone.
  Transport* transport() const { return transport_.get(); }

 private:
  explicit ProcessGroup(std::unique_ptr<Transport> transport);

  std::unique_ptr<Transport> transport_;
  int rank_ = 0;
  int size_ = 1;
  int exceptions_;  // number of exceptions in flight at construction
};

}  // namespace weft
