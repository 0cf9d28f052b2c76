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

// The processes of `mpirun -n 4 program`, in each of which the program creates one ProcessGroup and
// gives it to its trainers (see TrainerOptions::processes). In a program that was started directly
// the group is that process alone, and costs nothing.
//
// Functions marked as collective are called by all processes, in the same order, and throw Error
// when another process cannot be reached. A program has at most one group; it is used by one thread
// at a time, and destroyed when everything is done: a process in which an exception destroys it
// ends without finalizing MPI, upon which mpirun ends the others.
//   ProcessGroup processes;
//   if (processes.is_root()) std::cout << processes.size() << " processes\n";
class WEFT_API ProcessGroup {
 public:
  // Throws Error for a second group of the program, and when mpirun has started several processes
  // of a weft that was built without MPI.
  ProcessGroup();
  ~ProcessGroup();
  // The group that is pointed to; without one, where the pointer is null, a group of this process
  // alone.
  static ProcessGroup& or_self(ProcessGroup* processes);
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const { return rank_; }  // the number of this process, from 0
  int size() const { return size_; }  // the number of processes
  // The first process reads and writes files, and prints.
  bool is_root() const { return rank_ == 0; }

  // Prints an error of this process to standard error as one line, ends all the others and this
  // one, with the exit status. An error of all processes is shown once, by the first: the others
  // wait for it for a second. Returns the exit status when the process is alone. For the handler of
  // the program's exceptions.
  int abort(const std::string& message, int exit_status = 1) const;

  // Collective: does `work`, the same in all processes. What it throws in one of them, whatever it
  // is, all throw: the others an Error that names the process, as soon as they wait for another.
  // None of them goes on before all have left `work`. Within another `together`, it is part of
  // that. Throws ValueError for an empty function.
  void run_collectively(const std::function<void()>& work);

  // Collective: the bytes of process `from` become those of all.
  void broadcast(std::span<std::byte> bytes, int from = 0);
  // Collective: returns the text of process `from`.
  std::string broadcast(std::string text, int from = 0);
  // Collective: returns the texts of all processes in their order.
  std::vector<std::string> all_gather(const std::string& text);
  // Collective: each value becomes the sum of those of all processes, added in their order.
  void all_reduce(std::span<double> values);
  // Collective: returns what `read` returns in the first process, which reads files for all. What
  // it throws, all throw. Throws ValueError for an empty function.
  std::string broadcast_from_root(const std::function<std::string()>& read);

  // Sends bytes to process `to`, which is waiting for as many. Throws Error when it cannot be
  // reached.
  void send(std::span<const std::byte> bytes, int to);
  // Waits for bytes of process `from`. Throws Error when it cannot be reached.
  void receive(std::span<std::byte> bytes, int from);

  // The bytes of gradients and weights that this process has sent.
  std::int64_t bytes_sent() const;

  // Null when the process is alone.
  Transport* transport() const { return transport_.get(); }

 private:
  explicit ProcessGroup(std::unique_ptr<Transport> transport);

  std::unique_ptr<Transport> transport_;
  int rank_ = 0;
  int size_ = 1;
  int exceptions_;  // in flight at construction
};

}  // namespace weft
