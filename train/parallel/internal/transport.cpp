#include "train/parallel/internal/transport.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
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

using Clock = std::chrono::steady_clock;

// MPI would wait without letting anything else run on the processor.
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

// What arrives within this time of a failure in another process, as it was sent before, counts.
constexpr auto time_after_failure = std::chrono::milliseconds(500);
// In one message: MPI counts in int, and a broadcast passes on the beginning of large memory while
// the rest arrives.
constexpr std::size_t most_at_once = std::size_t{1} << 20;

}  // namespace

// There are only messages between two processes, as those that wait for a failed one must be able
// to cancel theirs: MPI's collective functions cannot be cancelled.
struct Transport::State {
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Comm control = MPI_COMM_NULL;  // for the ends of sections
  int rank = 0, size = 1;
  bool finalizes = false;
  std::vector<MPI_Request> incoming, outgoing;  // of the function that is running
  std::vector<MPI_Request> requests;            // of the messages
  std::vector<std::size_t> bytes_of_requests;   // 0 for incoming ones
  std::int64_t bytes_sent = 0;

  bool in_section = false;
  std::optional<Clock::time_point> failure_noticed;
  std::string error;  // that has ended the section

  void add_incoming(void* data, std::size_t count, MPI_Datatype type, int from) {
    check_section();
    check(MPI_Irecv(data, static_cast<int>(count), type, from, 0, all,
                    &incoming.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Irecv");
  }
  void add_outgoing(const void* data, std::size_t count, MPI_Datatype type, int to) {
    check_section();
    check(MPI_Isend(data, static_cast<int>(count), type, to, 0, all,
                    &outgoing.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
  }
  // For `incoming` and `outgoing`.
  void wait() {
    wait_in_section([&] { return is_done(incoming) && is_done(outgoing); });
    incoming.clear();
    outgoing.clear();
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
    if (!error.empty()) throw Error(error);
  }
  bool another_failed() {
    int is_told = 0;
    if (in_section)
      check(MPI_Iprobe(MPI_ANY_SOURCE, 0, control, &is_told, MPI_STATUS_IGNORE), "MPI_Iprobe");
    if (!is_told) return false;
    if (!failure_noticed) failure_noticed = Clock::now();
    return Clock::now() - *failure_noticed > time_after_failure;
  }

  // At the end of a section, where all processes come once: those that fail, which tell the others,
  // those that notice it, and those that have done their work. They cancel what they would receive
  // and wait for each other; from then on nobody accesses the memory of a transfer.
  void meet(const std::string& own_error) {
    if (!own_error.empty())
      for (int other = 0; other < size; ++other)
        if (other != rank) check(MPI_Send(nullptr, 0, MPI_BYTE, other, 0, control), "MPI_Send");
    for (MPI_Request& request : incoming) cancel(request);
    for (std::size_t i = 0; i < requests.size(); ++i)
      if (bytes_of_requests[i] == 0) cancel(requests[i]);

    std::vector<int> lengths(static_cast<std::size_t>(size)), starts(lengths.size());
    lengths[static_cast<std::size_t>(rank)] = static_cast<int>(own_error.size());
    MPI_Request request;
    check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INT, lengths.data(), 1, MPI_INT, control, &request),
          "MPI_Iallgather");
    wait_until([&] { return is_done({&request, 1}); });
    std::exclusive_scan(lengths.begin(), lengths.end(), starts.begin(), 0);
    std::string errors(static_cast<std::size_t>(starts.back() + lengths.back()), ' ');
    if (errors.empty()) return;
    errors.replace(static_cast<std::size_t>(starts[static_cast<std::size_t>(rank)]),
                   own_error.size(), own_error);
    check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_CHAR, errors.data(), lengths.data(), starts.data(),
                          MPI_CHAR, control, &request),
          "MPI_Iallgatherv");
    wait_until([&] { return is_done({&request, 1}); });

    const auto first = std::ranges::find_if(lengths, [](int length) { return length > 0; });
    error = concatenate_text("process ", first - lengths.begin() + 1, " of ", size, ": ",
                             errors.substr(0, static_cast<std::size_t>(*first)));
    for (int other = 0; other < size; ++other)
      if (other != rank && lengths[static_cast<std::size_t>(other)] > 0)
        check(MPI_Recv(nullptr, 0, MPI_BYTE, other, 0, control, MPI_STATUS_IGNORE), "MPI_Recv");
    for (std::vector<MPI_Request>* left : {&incoming, &outgoing}) {
      for (MPI_Request& each : *left)
        if (each != MPI_REQUEST_NULL) MPI_Request_free(&each);
      left->clear();
    }
    // What was sent and never received stays in the old one.
    check(MPI_Comm_dup(control, &all), "MPI_Comm_dup");
  }

  static void cancel(MPI_Request& request) {
    int is_complete = 0;  // or was not started
    check(MPI_Request_get_status(request, &is_complete, MPI_STATUS_IGNORE),
          "MPI_Request_get_status");
    if (is_complete) return;
    check(MPI_Cancel(&request), "MPI_Cancel");
    wait_until([&] { return is_done({&request, 1}); });
  }
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
  check(MPI_Comm_dup(MPI_COMM_WORLD, &state->control), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(state->control, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_dup(state->control, &state->all), "MPI_Comm_dup");
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

bool Transport::enter() { return !std::exchange(state_->in_section, true); }

std::string Transport::leave(const std::string& error) {
  if (state_->error.empty()) state_->meet(error);
  state_->in_section = false;
  state_->failure_noticed.reset();
  return std::exchange(state_->error, "");
}

void Transport::broadcast(std::span<std::byte> bytes) {
  const int own = state_->rank;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(most_at_once, bytes.size()))) {
    const std::size_t count = std::min(most_at_once, bytes.size());
    if (own > 0) {
      state_->add_incoming(bytes.data(), count, MPI_BYTE, (own - 1) / 2);
      state_->wait();
    }
    for (const int to : {2 * own + 1, 2 * own + 2})
      if (to < state_->size) state_->add_outgoing(bytes.data(), count, MPI_BYTE, to);
    state_->wait();
  }
}

void Transport::gather(std::span<double> all, std::span<const int> counts) {
  const double* own = nullptr;
  double* next = all.data();
  for (int process = 0; process < state_->size; ++process) {
    const auto count = static_cast<std::size_t>(counts[static_cast<std::size_t>(process)]);
    if (process == state_->rank)
      own = next;
    else
      state_->add_incoming(next, count, MPI_DOUBLE, process);
    next += count;
  }
  for (int process = 0; process < state_->size; ++process)
    if (process != state_->rank)
      state_->add_outgoing(own,
                           static_cast<std::size_t>(counts[static_cast<std::size_t>(state_->rank)]),
                           MPI_DOUBLE, process);
  state_->wait();
}

void Transport::send(std::span<const std::byte> bytes, int to) {
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(most_at_once, bytes.size()))) {
    state_->add_outgoing(bytes.data(), std::min(most_at_once, bytes.size()), MPI_BYTE, to);
    state_->wait();
  }
}

void Transport::receive(std::span<std::byte> bytes, int from) {
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(most_at_once, bytes.size()))) {
    state_->add_incoming(bytes.data(), std::min(most_at_once, bytes.size()), MPI_BYTE, from);
    state_->wait();
  }
}

std::size_t Transport::add_outgoing(std::span<const std::byte> bytes, int to, int tag) {
  MPI_Request request;
  check(MPI_Send_init(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, state_->all,
                      &request),
        "MPI_Send_init");
  state_->requests.push_back(request);
  state_->bytes_of_requests.push_back(bytes.size());
  return state_->requests.size() - 1;
}

std::size_t Transport::add_incoming(std::span<std::byte> bytes, int from, int tag) {
  MPI_Request request;
  check(MPI_Recv_init(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, tag,
                      state_->all, &request),
        "MPI_Recv_init");
  state_->requests.push_back(request);
  state_->bytes_of_requests.push_back(0);
  return state_->requests.size() - 1;
}

void Transport::remove_messages() {
  for (MPI_Request& request : state_->requests)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  state_->requests.clear();
  state_->bytes_of_requests.clear();
}

void Transport::start(std::size_t first, std::size_t last) {
  state_->check_section();
  if (first == last) return;
  for (std::size_t i = first; i < last; ++i)
    state_->bytes_sent += static_cast<std::int64_t>(state_->bytes_of_requests[i]);
  check(MPI_Startall(static_cast<int>(last - first), state_->requests.data() + first),
        "MPI_Startall");
}

bool Transport::proceed(std::size_t first, std::size_t last) {
  return is_done(std::span(state_->requests).subspan(first, last - first));
}

void Transport::wait(std::size_t first, std::size_t last) {
  state_->wait_in_section([&] { return proceed(first, last); });
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
bool Transport::enter() { return true; }
std::string Transport::leave(const std::string& error) { return error; }
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
