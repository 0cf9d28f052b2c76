// Transport: messages between processes. Only transport.cpp uses MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace weft {

// Connects the processes.
class Transport {
 public:
  // Connects to the other processes started by mpirun. Returns null if this process was started
  // alone. Throws Error if connecting fails.
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

  // Begins a section of collective work. Returns false if this process is already in a section. In
  // a section, functions that wait for other processes throw Error, naming the process, if a
  // process has failed. They throw when all processes have stopped, so that no transfer is under
  // way.
  virtual bool enter() = 0;
  // Ends the section in all processes; `error` is not empty if this process failed. Returns the
  // error of the first process that failed, with its name, or an empty string.
  virtual std::string leave(const std::string& error) = 0;

  // Collective operations: from one process to all others, and sums in the order of the processes.
  virtual void broadcast(std::span<std::byte> bytes, int from) = 0;
  virtual void sum(std::span<double> values) = 0;
  // Messages from one process to another, which must wait for the same number of bytes.
  virtual void send(std::span<const std::byte> bytes, int to) = 0;
  virtual void receive(std::span<std::byte> bytes, int from) = 0;

  // Add a persistent message, which is sent repeatedly between the same buffers while the process
  // does other work. A message has the same tag on both sides. Return its number.
  virtual std::size_t add_outgoing(std::span<const std::byte> bytes, int to, int tag) = 0;
  virtual std::size_t add_incoming(std::span<std::byte> bytes, int from, int tag) = 0;
  virtual void remove_messages() = 0;
  // Begins to transfer messages [first, last).
  virtual void start(std::size_t first, std::size_t last) = 0;
  // Lets the started messages among [first, last) proceed. Returns whether their transfers are
  // done.
  virtual bool proceed(std::size_t first, std::size_t last) = 0;
  // Waits until the transfers are done. Messages that were not started are ignored.
  virtual void wait(std::size_t first, std::size_t last) = 0;
  // Returns the number of bytes sent in persistent messages.
  virtual std::int64_t bytes_sent() const = 0;

 protected:
  Transport() = default;
};

}  // namespace weft
