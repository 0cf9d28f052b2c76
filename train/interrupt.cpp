#include "weft/train/interrupt.hpp"

#include <atomic>
#include <cstdlib>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

std::atomic<bool> installed = false;
std::atomic<int> first_signal = 0;
std::atomic<bool> continued = false;  // whether mpirun has sent SIGCONT
static_assert(std::atomic<int>::is_always_lock_free, "signal handlers must not lock");

void handle_signal(int signal) {
  if (signal == SIGCONT) {
    continued = true;
    return;
  }
  int none = 0;
  first_signal.compare_exchange_strong(none, signal == SIGTERM && continued ? SIGINT : signal);
}

// Returns whether a signal may be ignored by the program's caller, and may arrive several times
// without the user's doing: from the terminal or its shell, or at each write to a closed pipe.
bool is_repeated(int signal) { return signal == SIGHUP || signal == SIGPIPE || signal == SIGCONT; }

bool is_of_this_program(int signal) {
  return signal != SIGCONT || std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
}

}  // namespace

SignalHandler::SignalHandler() {
  if (installed.exchange(true))
    throw Error("SignalHandler: expected at most one at a time, got a second SignalHandler");
  first_signal = 0;
  continued = false;
  struct sigaction* previous = previous_;
  for (const int signal : signals) {
    struct sigaction action {};
    action.sa_handler = handle_signal;
    // A second signal has its default effect. Writes interrupted by a signal are restarted.
    action.sa_flags = SA_RESTART;
    if (!is_repeated(signal)) action.sa_flags |= static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    sigaction(signal, nullptr, previous);
    const bool is_ignored =
        (previous->sa_flags & SA_SIGINFO) == 0 && previous->sa_handler == SIG_IGN;
    if (is_of_this_program(signal) && !(is_repeated(signal) && is_ignored))
      sigaction(signal, &action, nullptr);
    ++previous;
  }
}

SignalHandler::~SignalHandler() {
  const struct sigaction* previous = previous_;
  for (const int signal : signals) sigaction(signal, previous++, nullptr);
  installed = false;
}

bool SignalHandler::requested() const { return first_signal != 0; }

int SignalHandler::exit_status() const {
  const int signal = first_signal;
  return signal == 0 ? 0 : 128 + signal;
}

}  // namespace weft
