// What the machine can do, and how near the operations come to it.
#pragma once

namespace weft::benchmarks {

// On as many threads as weft uses.
struct Limits {
  double flops = 0.0;  // a second, of a single-precision product of 2048³
  double bytes = 0.0;  // a second, read and written by a copy larger than the caches
};

Limits measure_limits(double seconds);

// A table of operations, forward and backward, with the bytes and FLOPs that each must move and
// compute, and their share of the limits; and the time that a recorded operation on one element
// takes.
void print_operations(double seconds);

}  // namespace weft::benchmarks
