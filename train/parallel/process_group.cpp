#include "weft/train/parallel/process_group.hpp"

#include <chrono>
#include <exception>
#include <iostream>
#include <thread>

#include "weft/autograd/error.hpp"
#include "train/parallel/internal/transport.hpp"

namespace weft {

ProcessGroup::ProcessGroup()
    : transport_(Transport::join()), exceptions_(std::uncaught_exceptions()) {
  if (!transport_) return;
  rank_ = transport_->rank();
  size_ = transport_->size();
}

ProcessGroup::~ProcessGroup() {
  // Finalizing would wait for processes that wait for this one.
  if (transport_ && size_ > 1 && std::uncaught_exceptions() > exceptions_)
    transport_->skip_finalizing();
}

int ProcessGroup::fail(const std::string& message, int exit_status) const {
  if (size_ == 1) {
    std::cerr << message << std::endl;
    return exit_status;
  }
  std::cout << std::flush;
  if (!is_first()) std::this_thread::sleep_for(std::chrono::seconds(1));
  // At once, so that lines of several processes do not mix.
  std::cerr << (is_first()
                    ? message + '\n'
                    : concatenate_text("process ", rank_ + 1, " of ", size_, ": ", message, '\n'))
            << std::flush;
  transport_->abort(exit_status);
}

void ProcessGroup::together(const std::function<void()>& work) {
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

void ProcessGroup::broadcast(std::span<std::byte> bytes) {
  if (transport_) transport_->broadcast(bytes);
}

std::string ProcessGroup::broadcast(std::string text) {
  if (!transport_) return text;
  std::uint64_t size = text.size();
  transport_->broadcast(std::as_writable_bytes(std::span(&size, 1)));
  text.resize(size);
  transport_->broadcast(std::as_writable_bytes(std::span(text)));
  return text;
}

std::vector<std::string> ProcessGroup::gather(const std::string& text) {
  if (!transport_) return {text};
  // By the first process.
  std::vector<std::string> texts(static_cast<std::size_t>(size_), text);
  for (int from = 1; from < size_; ++from) {
    std::uint64_t length = text.size();
    std::string& received = texts[static_cast<std::size_t>(from)];
    if (is_first()) {
      transport_->receive(std::as_writable_bytes(std::span(&length, 1)), from);
      received.resize(length);
      transport_->receive(std::as_writable_bytes(std::span(received)), from);
    } else if (rank_ == from) {
      transport_->send(std::as_bytes(std::span(&length, 1)), 0);
      transport_->send(std::as_bytes(std::span(text)), 0);
    }
  }
  for (std::string& each : texts) each = broadcast(std::move(each));
  return texts;
}

void ProcessGroup::gather(std::span<double> all, std::span<const int> counts) {
  if (transport_) transport_->gather(all, counts);
}

std::string ProcessGroup::from_first(const std::function<std::string()>& read) {
  std::string result;
  together([&] { result = broadcast(is_first() ? read() : ""); });
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
