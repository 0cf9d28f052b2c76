// The benchmarks of reading: weights from a file, and tokens from text.
#pragma once

#include <optional>
#include <string>

#include "tests/benchmarks/workloads.hpp"

namespace weft::benchmarks {

// Returns "loading" (W2's model from an HDF5 file) or "tokenizing" (random words into byte pairs),
// and nothing for other names.
std::optional<Workload> input_step(const std::string& name);

}  // namespace weft::benchmarks
