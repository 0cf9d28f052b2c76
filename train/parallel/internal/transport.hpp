// Transport: messages between processes; transport.cpp is the only place that sees MPI.
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
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void skip_finalizing() = 0;
  // Ends all processes.
  virtual void abort(int exit_status) = 0;

  // Begins a section of work that all processes do together, if this one is in none: otherwise
  // returns false. In a section, whatever waits for others throws when a process has failed. It
  // throws Error, naming that process, when all have stopped, so that no transfer is under way.
  virtual bool enter() = 0;
  // Ends it in all processes, as one in which this one failed if there is an error. Returns the
  // error of the first process that has one, with its name; empty if none has.
  virtual std::string leave(const std::string& error) = 0;

  // Of all processes: from one to the others, and sums in the order of the processes.
  virtual void broadcast(std::span<std::byte> bytes, int from) = 0;
  virtual void sum(std::span<double> values) = 0;
  // From one process to another, which waits for as many bytes.
  virtual void send(std::span<const std::byte> bytes, int to) = 0;
  virtual void receive(std::span<std::byte> bytes, int from) = 0;

  // Messages that are sent again and again from the same memory to the same memory, while the
  // process does other work. A message has the same tag on both sides; the result is its number.
  virtual std::size_t add_outgoing(std::span<const std::byte> bytes, int to, int tag) = 0;
  virtual std::size_t add_incoming(std::span<std::byte> bytes, int from, int tag) = 0;
  virtual void remove_messages() = 0;
  // Begins to transfer the messages first … last.
  virtual void start(std::size_t first, std::size_t last) = 0;
  // Gives the started ones among the messages time to proceed. Whether their transfers have ended.
  virtual bool proceed(std::size_t first, std::size_t last) = 0;
  // Waits for the end of the transfers; messages that were not started have none.
  virtual void wait(std::size_t first, std::size_t last) = 0;
  // Of the messages.
  virtual std::int64_t bytes_sent() const = 0;

 protected:
  Transport() = default;
};

}  // namespace weft
