// Workloads: the benchmarked training steps.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace weft::benchmarks {

struct Workload {
  // Runs one training step; may be called repeatedly.
  std::function<void()> step;
  // Per step. The FLOPs of attention do not include masked scores.
  double tokens = 0.0;
  double product_flops = 0.0;
};

// "W1" … "W5", "W6" and "W6-<length>". Throws ValueError for any other name.
Workload make_workload(const std::string& name);

}  // namespace weft::benchmarks
