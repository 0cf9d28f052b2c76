#include "weft/train/interrupt.hpp"

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

volatile std::sig_atomic_t signal_received = 0;
bool installed = false;

void handle_signal(int) { signal_received = 1; }

}  // namespace

Interrupt::Interrupt() {
  if (installed) throw Error("interrupt: expected one Interrupt at a time, got a second");
  installed = true;
  signal_received = 0;
  struct sigaction action {};
  action.sa_handler = handle_signal;
  // The second signal gets the default handler; writes that a signal interrupts are restarted.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &previous_interrupt_);
  sigaction(SIGTERM, &action, &previous_terminate_);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &previous_interrupt_, nullptr);
  sigaction(SIGTERM, &previous_terminate_, nullptr);
  installed = false;
}

bool Interrupt::requested() const { return signal_received != 0; }

}  // namespace weft
