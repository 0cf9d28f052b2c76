// Transport: messages between processes; the only place that sees MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace weft {

class Transport {
 public:
  // The processes that mpirun started this one with; null when it was started alone. Throws Error
  // when they cannot be joined.
  static std::unique_ptr<Transport> join();
  // Finalizes MPI, which waits for the other processes, unless `skip_finalizing` was called.
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  int rank() const;
  int size() const;
  void skip_finalizing();
  // Ends all processes.
  [[noreturn]] void abort(int exit_status);

  // Begins a section of work that all processes do together, if this one is in none: otherwise
  // returns false. In a section, whatever waits for others throws when a process has failed. It
  // throws Error, naming that process, when all have stopped, so that no transfer is under way.
  bool enter();
  // Ends it in all processes, as one in which this one failed if there is an error. Returns the
  // error of the first process that has one, with its name; empty if none has.
  std::string leave(const std::string& error);

  // Of all processes: from process 0 to the others, and the items of each to all.
  void broadcast(std::span<std::byte> bytes);
  void gather(std::span<double> all, std::span<const int> counts);
  // From one process to another, which waits for as many bytes.
  void send(std::span<const std::byte> bytes, int to);
  void receive(std::span<std::byte> bytes, int from);

  // Messages that are sent again and again from the same memory to the same memory, while the
  // process does other work. A message has the same tag on both sides; the result is its number.
  std::size_t add_outgoing(std::span<const std::byte> bytes, int to, int tag);
  std::size_t add_incoming(std::span<std::byte> bytes, int from, int tag);
  void remove_messages();
  // Begins to transfer the messages first … last.
  void start(std::size_t first, std::size_t last);
  // Gives the started ones among the messages time to proceed. Whether their transfers have ended.
  bool proceed(std::size_t first, std::size_t last);
  // Waits for the end of the transfers; messages that were not started have none.
  void wait(std::size_t first, std::size_t last);
  // Of the messages.
  std::int64_t bytes_sent() const;

 private:
  struct State;
  explicit Transport(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace weft
