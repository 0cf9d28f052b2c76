// Workloads: the training steps that weft is measured on.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace weft::benchmarks {

// One step, ready to run again and again.
struct Workload {
  std::function<void()> step;
  // Per step; of the attention's products those that its mask lets through.
  double tokens = 0.0;
  double product_flops = 0.0;
};

// "W1" … "W5", "W6" and "W6-<length>". Throws ValueError for any other name.
Workload make_workload(const std::string& name);

}  // namespace weft::benchmarks
