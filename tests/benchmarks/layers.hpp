// The benchmarks of single layers.
#pragma once

#include <optional>
#include <string>

#include "tests/benchmarks/workloads.hpp"

namespace weft::benchmarks {

// Forward and backward of a layer, with gradients of its input and its parameters: "RNN", "GRU",
// "LSTM", "BiLSTM", "SwiGLU", "RMSNorm", "GQA" (grouped-query attention) or "pooling" (the mean of
// padded sequences). Nothing for other names.
std::optional<Workload> layer_step(const std::string& name);

}  // namespace weft::benchmarks
