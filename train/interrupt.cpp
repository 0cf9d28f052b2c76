#include "weft/train/interrupt.hpp"

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

volatile std::sig_atomic_t signal_came = 0;
bool installed = false;

void note_signal(int) { signal_came = 1; }

}  // namespace

Interrupt::Interrupt() {
  if (installed)
    throw Error("interrupt: expected no other Interrupt at the same time, got a second");
  installed = true;
  signal_came = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  // The second signal meets the system's own handler; writes that a signal cuts short go on.
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

bool Interrupt::requested() const { return signal_came != 0; }

}  // namespace weft
