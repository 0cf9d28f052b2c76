#include "train/parallel/internal/transport.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"

#ifdef WEFT_HAS_MPI
#include <mpi.h>
#endif

namespace weft {
namespace {

// Returns the number of processes that the launcher has started (Open MPI, PMIx, MPICH or Slurm),
// as far as known. 0 without a launcher.
long launched_processes() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "PMIX_RANK"})
    if (const char* text = std::getenv(name))
      return std::string(name) == "PMIX_RANK" ? 1 : std::strtol(text, nullptr, 10);
  return 0;
}

#ifdef WEFT_HAS_MPI

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(str_cat("processes: ", call, " failed: ", text));
}

using Clock = std::chrono::steady_clock;

// Waits by polling, and lets other threads run. MPI's own functions would occupy the processor.
template <class Test>
void wait_until(const Test& is_done) {
  const auto start = Clock::now();
  while (!is_done())
    if (Clock::now() - start > std::chrono::microseconds(50)) std::this_thread::yield();
}

bool is_done(std::span<MPI_Request> requests) {
  int done = 0;
  check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
        "MPI_Testall");
  return done != 0;
}

// After the failure of another process, messages sent before it are received for this long.
constexpr auto time_after_failure = std::chrono::milliseconds(500);
// The size of a message. It is limited because MPI counts in int, and because a broadcast forwards
// the beginning of the data while the rest arrives.
constexpr std::size_t most_at_once = std::size_t{1} << 20;

// Uses only messages between two processes. If a process fails, the other processes must cancel the
// operation they are waiting for, which is impossible with MPI's collective functions.
class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(bool initializes) : finalizes_(initializes) {
    if (initializes) {
      int provided = MPI_THREAD_SINGLE;
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
      if (provided < MPI_THREAD_SERIALIZED)
        fail<Error>("processes", "an MPI library that provides MPI_THREAD_SERIALIZED",
                    "an MPI library for a single thread");
    }
    check(MPI_Comm_dup(MPI_COMM_WORLD, &control_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(control_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_dup(control_, &all_), "MPI_Comm_dup");
    check(MPI_Comm_rank(all_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(all_, &size_), "MPI_Comm_size");
  }
  ~MpiTransport() override {
    remove_messages();
    if (finalizes_) MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void skip_finalizing() override {
    finalizes_ = false;
    requests_.clear();
  }
  void abort(int exit_status) override {
    MPI_Abort(all_, exit_status);
    std::_Exit(exit_status);
  }

  bool enter() override { return !std::exchange(in_section_, true); }
  std::string leave(const std::string& error) override {
    if (error_.empty()) meet(error);
    in_section_ = false;
    failure_noticed_.reset();
    return std::exchange(error_, "");
  }

  // Sends the bytes along a binary tree.
  void broadcast(std::span<std::byte> bytes, int from) override {
    const int place = (rank_ - from + size_) % size_;
    in_pieces(bytes, [&](std::span<std::byte> piece) {
      if (place > 0) {
        begin_receiving(piece, ((place - 1) / 2 + from) % size_);
        wait_for_transfers();
      }
      for (const int next : {2 * place + 1, 2 * place + 2})
        if (next < size_) begin_sending(piece, (next + from) % size_);
    });
  }

  void sum(std::span<double> values) override {
    const std::size_t count = values.size();
    of_each_.resize(count * static_cast<std::size_t>(size_));
    for (int process = 0; process < size_; ++process) {
      const std::span<double> received =
          std::span(of_each_).subspan(count * static_cast<std::size_t>(process), count);
      if (process == rank_)
        std::copy_n(values.data(), count, received.data());
      else
        begin_receiving(std::as_writable_bytes(received), process);
    }
    for (int process = 0; process < size_; ++process)
      if (process != rank_) begin_sending(std::as_bytes(values), process);
    wait_for_transfers();
    std::ranges::fill(values, 0.0);
    for (std::size_t i = 0; i < of_each_.size(); ++i) values[i % count] += of_each_[i];
  }

  void send(std::span<const std::byte> bytes, int to) override {
    in_pieces(bytes, [&](std::span<const std::byte> piece) { begin_sending(piece, to); });
  }
  void receive(std::span<std::byte> bytes, int from) override {
    in_pieces(bytes, [&](std::span<std::byte> piece) { begin_receiving(piece, from); });
  }

  std::size_t add_outgoing(std::span<const std::byte> bytes, int to, int tag) override {
    check(MPI_Send_init(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, all_,
                        &requests_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Send_init");
    bytes_of_requests_.push_back(bytes.size());
    return requests_.size() - 1;
  }
  std::size_t add_incoming(std::span<std::byte> bytes, int from, int tag) override {
    check(MPI_Recv_init(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, tag, all_,
                        &requests_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Recv_init");
    bytes_of_requests_.push_back(0);
    return requests_.size() - 1;
  }
  void remove_messages() override {
    free_all(requests_);
    bytes_of_requests_.clear();
  }
  void start(std::size_t first, std::size_t last) override {
    check_section();
    if (first == last) return;
    for (std::size_t i = first; i < last; ++i)
      bytes_sent_ += static_cast<std::int64_t>(bytes_of_requests_[i]);
    check(MPI_Startall(static_cast<int>(last - first), requests_.data() + first), "MPI_Startall");
  }
  bool proceed(std::size_t first, std::size_t last) override {
    return is_done(std::span(requests_).subspan(first, last - first));
  }
  void wait(std::size_t first, std::size_t last) override {
    wait_in_section([&] { return proceed(first, last); });
  }
  std::int64_t bytes_sent() const override { return bytes_sent_; }

 private:
  // Start a transfer of the running function. MPI counts in int.
  void begin_receiving(std::span<std::byte> bytes, int from) {
    check_section();
    check(MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, 0, all_,
                    &incoming_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Irecv");
  }
  void begin_sending(std::span<const std::byte> bytes, int to) {
    check_section();
    check(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, 0, all_,
                    &outgoing_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
  }
  void wait_for_transfers() {
    wait_in_section([&] { return is_done(incoming_) && is_done(outgoing_); });
    incoming_.clear();
    outgoing_.clear();
  }
  // Calls begin(piece) for each piece of the bytes, and waits for the transfers that it has
  // started.
  template <class Byte, class Begin>
  void in_pieces(std::span<Byte> bytes, const Begin& begin) {
    while (!bytes.empty()) {
      const std::span<Byte> piece = bytes.first(std::min(most_at_once, bytes.size()));
      begin(piece);
      wait_for_transfers();
      bytes = bytes.subspan(piece.size());
    }
  }

  template <class Test>
  void wait_in_section(const Test& is_done) {
    check_section();
    bool has_failed = false;
    wait_until([&] { return is_done() || (has_failed = another_failed()); });
    if (!has_failed) return;
    meet("");
    check_section();
  }
  void check_section() const {
    if (!error_.empty()) throw Error(error_);
  }
  bool another_failed() {
    int is_told = 0;
    if (in_section_)
      check(MPI_Iprobe(MPI_ANY_SOURCE, 0, control_, &is_told, MPI_STATUS_IGNORE), "MPI_Iprobe");
    if (!is_told) return false;
    if (!failure_noticed_) failure_noticed_ = Clock::now();
    return Clock::now() - *failure_noticed_ > time_after_failure;
  }

  // Called once by every process in a section: by a process that has finished its work, and by
  // processes that have failed or notice a failure. A failed process notifies the others. All
  // processes cancel pending receives and wait for each other. Afterwards, no process accesses the
  // memory of a transfer.
  void meet(const std::string& own_error) {
    if (!own_error.empty())
      for (int other = 0; other < size_; ++other)
        if (other != rank_) check(MPI_Send(nullptr, 0, MPI_BYTE, other, 0, control_), "MPI_Send");
    for (MPI_Request& request : incoming_) cancel(request);
    for (std::size_t i = 0; i < requests_.size(); ++i)
      if (bytes_of_requests_[i] == 0) cancel(requests_[i]);

    std::vector<int> lengths(static_cast<std::size_t>(size_));
    lengths[static_cast<std::size_t>(rank_)] = static_cast<int>(own_error.size());
    MPI_Request request;
    check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INT, lengths.data(), 1, MPI_INT, control_, &request),
          "MPI_Iallgather");
    wait_until([&] { return is_done({&request, 1}); });
    const auto first = std::ranges::find_if(lengths, [](int length) { return length > 0; });
    if (first == lengths.end()) return;
    const auto failed = static_cast<int>(first - lengths.begin());
    std::string text =
        failed == rank_ ? own_error : std::string(static_cast<std::size_t>(*first), ' ');
    check(MPI_Ibcast(text.data(), *first, MPI_CHAR, failed, control_, &request), "MPI_Ibcast");
    wait_until([&] { return is_done({&request, 1}); });
    error_ = str_cat("process ", failed + 1, " of ", size_, ": ", text);

    for (int other = 0; other < size_; ++other)
      if (other != rank_ && lengths[static_cast<std::size_t>(other)] > 0)
        check(MPI_Recv(nullptr, 0, MPI_BYTE, other, 0, control_, MPI_STATUS_IGNORE), "MPI_Recv");
    free_all(incoming_);
    free_all(outgoing_);
    // Messages that were sent but never received remain in the old communicator.
    check(MPI_Comm_dup(control_, &all_), "MPI_Comm_dup");
  }

  static void cancel(MPI_Request& request) {
    int is_complete = 0;  // also 1 for a request that was not started
    check(MPI_Request_get_status(request, &is_complete, MPI_STATUS_IGNORE),
          "MPI_Request_get_status");
    if (is_complete) return;
    check(MPI_Cancel(&request), "MPI_Cancel");
    wait_until([&] { return is_done({&request, 1}); });
  }
  static void free_all(std::vector<MPI_Request>& requests) {
    for (MPI_Request& request : requests)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    requests.clear();
  }

  MPI_Comm all_ = MPI_COMM_NULL;
  MPI_Comm control_ = MPI_COMM_NULL;  // for messages about the ends of sections
  int rank_ = 0, size_ = 1;
  bool finalizes_;
  std::vector<MPI_Request> incoming_, outgoing_;  // requests of the running function
  std::vector<double> of_each_;                   // the values of each process, for `sum`
  std::vector<MPI_Request> requests_;             // requests of the persistent messages
  std::vector<std::size_t> bytes_of_requests_;    // sizes of outgoing messages; 0 for incoming
  std::int64_t bytes_sent_ = 0;

  bool in_section_ = false;
  std::optional<Clock::time_point> failure_noticed_;
  std::string error_;  // the error that has ended the section
};

}  // namespace

std::unique_ptr<Transport> Transport::join() {
  int is_initialized = 0, is_finalized = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  if (is_finalized)
    fail<Error>("processes", "one ProcessGroup per program", "a second ProcessGroup");
  if (!is_initialized && launched_processes() == 0) return nullptr;
  return std::make_unique<MpiTransport>(!is_initialized);
}

#else

}  // namespace

// Without MPI, every process is alone.
std::unique_ptr<Transport> Transport::join() {
  if (const long processes = launched_processes(); processes > 1)
    fail<Error>("processes", "weft built with MPI",
                str_cat(processes, " processes of weft built without MPI"));
  return nullptr;
}

#endif

}  // namespace weft
