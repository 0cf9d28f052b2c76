// The kernels of matrix products beside the library that weft uses for large ones.
#pragma once

namespace weft::benchmarks {

// Prints, for each kernel and sizes that it computes, its rate and the library's in turn, on one
// thread.
void print_products(double seconds);

}  // namespace weft::benchmarks
