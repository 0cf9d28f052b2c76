// The machine's peak rates, and benchmarks of single operations relative to them.
#pragma once

#include <weft/autograd/precision.hpp>

namespace weft::benchmarks {

// Peak rates on weft's number of threads.
struct Limits {
  double flops = 0.0;    // FLOP/s of a 2048³ product
  double bytes = 0.0;    // bytes/s, read and written, of a copy that is larger than the caches
  double reading = 0.0;  // bytes/s of adding up 512 MB
};

// Throws Error for a precision that the processor does not support.
Limits measure_limits(Precision precision, double seconds);

// Prints a table of operations, forward and backward, with their bandwidths, FLOP rates and
// utilisation of the limits, and the overhead of recording an operation.
void print_operations(double seconds);

}  // namespace weft::benchmarks
