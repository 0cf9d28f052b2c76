#include "train/distributed/internal/transport.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "weft/autograd/error.hpp"

#ifdef WEFT_HAS_MPI
#include <mpi.h>
#endif

namespace weft {
namespace {

// The number of processes that a launcher says it started: Open MPI's and PMIx's, MPICH's, Slurm's.
// 0 without a launcher.
long launched_processes() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "PMIX_RANK"})
    if (const char* text = std::getenv(name))
      return std::string(name) == "PMIX_RANK" ? 1 : std::strtol(text, nullptr, 10);
  return 0;
}

}  // namespace

#ifdef WEFT_HAS_MPI

namespace {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail<Error>(concatenate_text("processes: ", call), "the other processes", text);
}

// MPI would wait without letting anything else run on the processor.
template <class Test>
void wait_until(const Test& is_done) {
  const auto start = std::chrono::steady_clock::now();
  while (!is_done())
    if (std::chrono::steady_clock::now() - start > std::chrono::microseconds(50))
      std::this_thread::yield();
}

// MPI counts in int.
constexpr std::size_t most_at_once = std::size_t{1} << 30;

}  // namespace

struct Transport::State {
  MPI_Comm all = MPI_COMM_NULL;
  int rank = 0, size = 1;
  bool finalizes = false;
  std::vector<int> starts;  // of a gather: kept for its memory
  std::vector<MPI_Request> requests;
  std::vector<std::size_t> outgoing;  // bytes of each message; 0 for incoming ones
  std::int64_t bytes_sent = 0;
};

Transport::Transport(std::unique_ptr<State> state) : state_(std::move(state)) {}

std::unique_ptr<Transport> Transport::join() {
  int is_initialized = 0, is_finalized = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  if (is_finalized) fail<Error>("processes", "one group in a program", "a second one");
  if (!is_initialized && launched_processes() == 0) return nullptr;
  auto state = std::make_unique<State>();
  if (!is_initialized) {
    int provided = MPI_THREAD_SINGLE;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
    state->finalizes = true;
    if (provided < MPI_THREAD_SERIALIZED)
      fail<Error>("processes", "an MPI that threads may take turns in", "one for a single thread");
  }
  check(MPI_Comm_dup(MPI_COMM_WORLD, &state->all), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(state->all, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(state->all, &state->rank), "MPI_Comm_rank");
  check(MPI_Comm_size(state->all, &state->size), "MPI_Comm_size");
  return std::unique_ptr<Transport>(new Transport(std::move(state)));
}

Transport::~Transport() {
  remove_messages();
  if (state_->finalizes) MPI_Finalize();
}

int Transport::rank() const { return state_->rank; }
int Transport::size() const { return state_->size; }
void Transport::skip_finalizing() {
  state_->finalizes = false;
  state_->requests.clear();
}

void Transport::abort(int exit_status) {
  MPI_Abort(state_->all, exit_status);
  std::_Exit(exit_status);
}

void Transport::broadcast(std::span<std::byte> bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += most_at_once)
    check(MPI_Bcast(bytes.data() + at, static_cast<int>(std::min(most_at_once, bytes.size() - at)),
                    MPI_BYTE, 0, state_->all),
          "MPI_Bcast");
}

void Transport::gather(std::span<double> all, std::span<const int> counts) {
  std::vector<int>& starts = state_->starts;
  starts.assign(counts.size(), 0);
  for (std::size_t i = 1; i < counts.size(); ++i) starts[i] = starts[i - 1] + counts[i - 1];
  MPI_Request request;
  check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, all.data(), counts.data(), starts.data(),
                        MPI_DOUBLE, state_->all, &request),
        "MPI_Iallgatherv");
  wait_until([&] {
    int is_done = 0;
    check(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
    return is_done != 0;
  });
}

void Transport::send(std::span<const std::byte> bytes, int to) {
  for (std::size_t at = 0; at < bytes.size(); at += most_at_once)
    check(MPI_Send(bytes.data() + at, static_cast<int>(std::min(most_at_once, bytes.size() - at)),
                   MPI_BYTE, to, 0, state_->all),
          "MPI_Send");
}

void Transport::receive(std::span<std::byte> bytes, int from) {
  for (std::size_t at = 0; at < bytes.size(); at += most_at_once)
    check(MPI_Recv(bytes.data() + at, static_cast<int>(std::min(most_at_once, bytes.size() - at)),
                   MPI_BYTE, from, 0, state_->all, MPI_STATUS_IGNORE),
          "MPI_Recv");
}

std::size_t Transport::add_outgoing(std::span<const std::byte> bytes, int to, int tag) {
  MPI_Request request;
  check(MPI_Send_init(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, state_->all,
                      &request),
        "MPI_Send_init");
  state_->requests.push_back(request);
  state_->outgoing.push_back(bytes.size());
  return state_->requests.size() - 1;
}

std::size_t Transport::add_incoming(std::span<std::byte> bytes, int from, int tag) {
  MPI_Request request;
  check(MPI_Recv_init(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, tag,
                      state_->all, &request),
        "MPI_Recv_init");
  state_->requests.push_back(request);
  state_->outgoing.push_back(0);
  return state_->requests.size() - 1;
}

void Transport::remove_messages() {
  for (MPI_Request& request : state_->requests)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  state_->requests.clear();
  state_->outgoing.clear();
}

void Transport::start(std::size_t first, std::size_t last) {
  if (first == last) return;
  for (std::size_t i = first; i < last; ++i)
    state_->bytes_sent += static_cast<std::int64_t>(state_->outgoing[i]);
  check(MPI_Startall(static_cast<int>(last - first), state_->requests.data() + first),
        "MPI_Startall");
}

bool Transport::proceed(std::size_t first, std::size_t last) {
  if (first == last) return true;
  int is_done = 0;
  check(MPI_Testall(static_cast<int>(last - first), state_->requests.data() + first, &is_done,
                    MPI_STATUSES_IGNORE),
        "MPI_Testall");
  return is_done != 0;
}

void Transport::wait(std::size_t first, std::size_t last) {
  wait_until([&] { return proceed(first, last); });
}

std::int64_t Transport::bytes_sent() const { return state_->bytes_sent; }

#else

// Without MPI, every process is alone, so that none of these is called.
struct Transport::State {};

Transport::Transport(std::unique_ptr<State> state) : state_(std::move(state)) {}
Transport::~Transport() = default;

std::unique_ptr<Transport> Transport::join() {
  if (const long processes = launched_processes(); processes > 1)
    fail<Error>("processes", "a weft that was built with MPI",
                concatenate_text(processes, " processes of one without"));
  return nullptr;
}

int Transport::rank() const { return 0; }
int Transport::size() const { return 1; }
void Transport::skip_finalizing() {}
void Transport::abort(int exit_status) { std::_Exit(exit_status); }
void Transport::broadcast(std::span<std::byte>) {}
void Transport::gather(std::span<double>, std::span<const int>) {}
void Transport::send(std::span<const std::byte>, int) {}
void Transport::receive(std::span<std::byte>, int) {}
std::size_t Transport::add_outgoing(std::span<const std::byte>, int, int) { return 0; }
std::size_t Transport::add_incoming(std::span<std::byte>, int, int) { return 0; }
void Transport::remove_messages() {}
void Transport::start(std::size_t, std::size_t) {}
bool Transport::proceed(std::size_t, std::size_t) { return true; }
void Transport::wait(std::size_t, std::size_t) {}
std::int64_t Transport::bytes_sent() const { return 0; }

#endif

}  // namespace weft
