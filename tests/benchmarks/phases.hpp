// The phases of a training step, for the model of steps on many machines.
#pragma once

#include <weft/autograd/shape.hpp>

namespace weft::benchmarks {

// Of W4, in seconds.
struct Phases {
  double whole_batch = 0.0;  // forward and backward of 4 sequences
  double half_batch = 0.0;   // of 2 sequences
  double update = 0.0;       // gradient norm and optimizer
  Index parameters = 0;
};

Phases measure_phases(double seconds);

}  // namespace weft::benchmarks
