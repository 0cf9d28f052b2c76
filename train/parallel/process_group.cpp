#include "weft/train/parallel/process_group.hpp"

#include <chrono>
#include <exception>
#include <iostream>
#include <thread>
#include <utility>

#include "weft/autograd/error.hpp"
#include "autograd/internal/checks.hpp"
#include "train/parallel/internal/transport.hpp"

namespace weft {

ProcessGroup::ProcessGroup() : ProcessGroup(Transport::join()) {}

ProcessGroup::ProcessGroup(std::unique_ptr<Transport> transport)
    : transport_(std::move(transport)), exceptions_(std::uncaught_exceptions()) {
  if (!transport_) return;
  rank_ = transport_->rank();
  size_ = transport_->size();
}

ProcessGroup::~ProcessGroup() {
  // Finalizing would wait for the other processes, which may be waiting for this process.
  if (transport_ && size_ > 1 && std::uncaught_exceptions() > exceptions_)
    transport_->skip_finalizing();
}

ProcessGroup& ProcessGroup::or_self(ProcessGroup* processes) {
  static ProcessGroup alone(nullptr);
  return processes ? *processes : alone;
}

int ProcessGroup::abort(const std::string& message, int exit_status) const {
  if (size_ == 1) {
    std::cerr << message << std::endl;
    return exit_status;
  }
  std::cout << std::flush;
  if (!is_root()) std::this_thread::sleep_for(std::chrono::seconds(1));
  // Writes the line in one piece, so that lines of several processes do not mix.
  std::cerr << (is_root() ? message + '\n'
                          : str_cat("process ", rank_ + 1, " of ", size_, ": ", message, '\n'))
            << std::flush;
  transport_->abort(exit_status);
  return exit_status;
}

void ProcessGroup::run_collectively(const std::function<void()>& work) {
  check_function("processes: work", work);
  if (!transport_ || !transport_->enter()) return work();
  std::exception_ptr own;
  std::string message;
  try {
    work();
  } catch (const std::exception& exception) {
    own = std::current_exception();
    message = exception.what();
  } catch (...) {
    own = std::current_exception();
    message = "an exception of an unknown type";
  }
  if (own && message.empty()) message = "an exception without a message";
  const std::string error = transport_->leave(message);
  if (own) std::rethrow_exception(own);
  if (!error.empty()) throw Error(error);
}

void ProcessGroup::broadcast(std::span<std::byte> bytes, int from) {
  if (transport_) transport_->broadcast(bytes, from);
}

std::string ProcessGroup::broadcast(std::string text, int from) {
  std::uint64_t size = text.size();
  broadcast(std::as_writable_bytes(std::span(&size, 1)), from);
  text.resize(size);
  broadcast(std::as_writable_bytes(std::span(text)), from);
  return text;
}

std::vector<std::string> ProcessGroup::all_gather(const std::string& text) {
  std::vector<std::string> texts;
  for (int from = 0; from < size_; ++from) texts.push_back(broadcast(text, from));
  return texts;
}

void ProcessGroup::all_reduce(std::span<double> values) {
  if (transport_) transport_->sum(values);
}

std::string ProcessGroup::broadcast_from_root(const std::function<std::string()>& read) {
  check_function("processes: read", read);
  std::string result;
  run_collectively([&] { result = broadcast(is_root() ? read() : ""); });
  return result;
}

void ProcessGroup::send(std::span<const std::byte> bytes, int to) {
  if (transport_) transport_->send(bytes, to);
}

void ProcessGroup::receive(std::span<std::byte> bytes, int from) {
  if (transport_) transport_->receive(bytes, from);
}

std::int64_t ProcessGroup::bytes_sent() const { return transport_ ? transport_->bytes_sent() : 0; }

}  // namespace weft
