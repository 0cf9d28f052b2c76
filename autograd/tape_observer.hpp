// TapeObserver: is told what a tape does, for measuring it.
#pragma once

#include <cstdint>

#include "weft/autograd/buffer.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/shape.hpp"

namespace weft {

// What a tape has just done. Valid during the call of `observe`.
struct TapeEvent {
  // What it has done.
  enum class Kind {
    parameter,        // took the value of a parameter, for one of the next operations
    forward,          // computed an operation
    backward_begins,  // is about to call the first backward function
    backward,         // computed the gradients of an operation's inputs
  };

  Kind kind;                        // what it has done
  const void* tape;                 // the Tape<T>
  const void* parameter = nullptr;  // the Parameter<T>, of Kind::parameter
  const char* operation = "";       // its name, of `forward` and `backward`
  // Of the operation: the number of its record in the pass, which forward and backward have in
  // common; -1 when backward does not pass it.
  std::int32_t record = -1;
  Shape shape = {};              // of the operation's result, or the parameter
  Index elements = 0;            // of the result and of the recorded inputs
  Index element_size = 0;        // bytes
  double flops = 0.0;            // of matrix products, in forward: two for a multiply-add
  MemoryStatistics memory = {};  // of the tape
};

// What TapeOptions::observer points to.
class WEFT_API TapeObserver {
 public:
  virtual ~TapeObserver() = default;
  // Called on the thread that uses the tape. Several tapes may share an observer, also on several
  // threads.
  virtual void observe(const TapeEvent& event) = 0;
};

}  // namespace weft
