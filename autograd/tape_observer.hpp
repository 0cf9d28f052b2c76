// TapeObserver: is notified of what a tape does, for measuring it.
#pragma once

#include <cstdint>

#include "weft/autograd/buffer.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/shape.hpp"

namespace weft {

// An event on a tape. Valid during the call of `observe`.
struct TapeEvent {
  // The kind of event.
  enum class Kind {
    parameter,        // the value of a parameter was taken, for a later operation
    forward,          // an operation was computed
    backward_begins,  // the first backward function is about to be called
    backward,         // the gradients of an operation's inputs were computed
  };

  Kind kind;                        // the kind of event
  const void* tape;                 // the Tape<T>
  const void* parameter = nullptr;  // the Parameter<T>, for Kind::parameter
  const char* operation = "";       // name of the operation, for `forward` and `backward`
  // The number of the operation's record in the pass, the same in forward and backward; -1 if the
  // operation was not recorded.
  std::int32_t record = -1;
  Shape shape = {};        // shape of the operation's result or of the parameter
  Index elements = 0;      // number of elements of the result and the recorded inputs
  Index element_size = 0;  // bytes per element
  // Floating-point operations of the matrix products in forward, two per multiply-add.
  double flops = 0.0;
  MemoryStatistics memory = {};  // memory statistics of the tape
};

// The interface of TapeOptions::observer.
class WEFT_API TapeObserver {
 public:
  virtual ~TapeObserver() = default;
  // Called on the thread that uses the tape. Several tapes may share an observer, even on several
  // threads.
  virtual void observe(const TapeEvent& event) = 0;
};

}  // namespace weft
