// Workloads: the steps that are benchmarked.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <weft/autograd/precision.hpp>
#include <weft/train/report/profile.hpp>

namespace weft::benchmarks {

struct Workload {
  // Runs one step, usually of training; may be called repeatedly.
  std::function<void()> step;
  // Per step. The FLOPs of attention do not include masked scores.
  double tokens = 0.0;
  double product_flops = 0.0;
  // Measures the steps, where it was asked for.
  std::shared_ptr<Profile> profile = {};
};

// "W1" … "W6", "W6-<length>", "LoRA" (adapters of W3's model), "sampling" and "sentences" with this
// precision, and "generation" and those of layer_step and input_step with full precision. W1 … W5
// and LoRA may be `profiled`, and may have other numbers of parts than usual: "W1/16". Throws
// ValueError for any other name.
Workload make_workload(const std::string& name, Precision precision, bool profiled = false);

// Runs `times` steps. Valgrind counts the instructions between the entry and the exit of this
// function (see tests/instructions.sh).
void repeat_step(const Workload& workload, Index times);

}  // namespace weft::benchmarks
