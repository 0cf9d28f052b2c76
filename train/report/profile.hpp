// Profile: measures the time and memory of training, by operation, layer and thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"
#include "weft/train/optim/optimizer.hpp"

namespace weft {

// The peak performance of the machine, with the threads that `parallel_for` uses on it.
struct MachineLimits {
  double flops_per_second = 0.0;  // in a large matrix product of floats
  double bytes_per_second = 0.0;  // bytes read and written while copying memory
};

// Measures the limits of this machine, which takes about a quarter of a second.
WEFT_API MachineLimits measure_limits();

// The measurements of an operation, a layer or a phase, summed over all its calls.
struct ProfileRow {
  std::string layer;              // "blocks.0.attention"; empty for the model; name of a phase
  std::string operation;          // empty for a layer or a phase
  std::int64_t calls = 0;         // number of forward calls
  double forward_seconds = 0.0;   // time of forward, or of a phase
  double backward_seconds = 0.0;  // time of backward
  double flops = 0.0;             // floating-point operations of matrix products
  double bytes = 0.0;             // bytes read and written
  double memory = 0.0;            // bytes by which forward increased the tape's memory
  // Returns the time of forward and backward.
  double seconds() const { return forward_seconds + backward_seconds; }
};

// The memory of a layer, including the layers within it, at the moment when a step uses the most
// memory; in bytes.
struct MemoryRow {
  std::string layer;        // "blocks.0.attention"; empty for the model itself
  double parameters = 0.0;  // parameters, including frozen ones
  double gradients = 0.0;   // gradients of parameters
  double optimizer = 0.0;   // state of the optimizer
  double values = 0.0;      // values that backward still needs
  double computing = 0.0;   // gradients of values, and scratch memory of the current backward
  // Returns the sum of all members.
  double bytes() const { return parameters + gradients + optimizer + values + computing; }
};

class ProfileRecorder;

// Measures all passes of the tapes whose observer it is, and the phases of a program around them:
//   Profile profile(model);
//   Tape tape({.training = true, .observer = &profile});
//   tape.backward(sum(model(tape.constant(X))));
//   profile.end_step();
//   std::cout << profile.operation_table() << profile.layer_table();
// The time of an operation starts at the end of the previous operation, phase or parallel range on
// the same thread. An operation belongs to the layer whose parameters it uses. An operation without
// parameters belongs to the innermost layer that contains the parameters used before and after it.
// FLOPs count only matrix products. Bytes count results, recorded inputs and parameters, each once.
// Backward counts as twice the FLOPs and bytes of forward.
//
// Call `end_step` and create phases on the thread that created the profile. Tapes may be used on
// other threads.
class WEFT_API Profile final : public TapeObserver {
 public:
  // Stores the names of the model's layers, and calls measure_limits. The model must not be moved
  // afterwards.
  template <class T>
  explicit Profile(const Module<T>& model);
  ~Profile() override;
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // A phase of a step, which lasts until the object is destroyed. Does nothing if the profile is
  // null. The name must outlive the profile.
  class WEFT_API Phase {
   public:
    // Begins the phase.
    Phase(Profile* profile, const char* name);
    ~Phase();
    Phase(const Phase&) = delete;
    Phase& operator=(const Phase&) = delete;

   private:
    Profile* profile_;
    const char* name_;
    double start_ = 0.0;
  };

  // Ends a step of the program. The first step is a warm-up and not part of the results.
  void end_step();

  // Includes an optimizer in the results of `memory`: its state, and the gradients of its
  // parameters, once for each of the `parts` of a ParallelPass.
  template <class T>
  void count_memory(const Optimizer<T>& optimizer, Index parts = 1);

  // Returns the operations of each layer, summed over all measured steps, the longest time first.
  std::vector<ProfileRow> operations() const;
  // Returns the phases, summed over all measured steps, the longest time first.
  std::vector<ProfileRow> phases() const;
  // Returns the layers, summed over all measured steps: first the model, then the layers within it,
  // in the order of `members`. A layer includes the layers within it.
  std::vector<ProfileRow> layers() const;
  // Returns the memory of the same layers when the tapes' memory was largest, as observed before
  // each backward function.
  std::vector<MemoryRow> memory() const;
  std::int64_t steps() const;           // number of measured steps
  double step_seconds() const;          // mean duration of a step
  const MachineLimits& limits() const;  // limits of this machine

  // Formats `phases()` as a table, with milliseconds per step and shares of the time.
  std::string phase_table() const;
  // Formats operations as a table, summed over layers, with milliseconds per step, shares of the
  // time, and the fraction of the machine's limits that they reach.
  std::string operation_table() const;
  // Formats `layers()` as a table, with milliseconds per step and shares of the time. Layers at the
  // same place in the elements of a list are shown together.
  std::string layer_table() const;
  // Formats `memory()` as a table, in MB.
  std::string memory_table() const;

  // Formats one pass as a table; see weft::pass_table.
  std::string pass_table() const;

  // Writes a trace of the first measured steps, with one row per thread, for Perfetto
  // (ui.perfetto.dev) and Chrome (chrome://tracing). Throws FileError if the file cannot be
  // written.
  void write_trace(const std::filesystem::path& path) const;

  void observe(const TapeEvent& event) override;

 private:
  std::unique_ptr<ProfileRecorder> recorder_;
};

// Returns a table of the costs of a pass, before the model is trained: the tree of layers, each
// with the shape of its result, its number of parameters, the FLOPs of its matrix products in
// forward, and the memory that it keeps for backward. `pass` runs the model on the given tape.
// Throws ValueError for an empty function.
//   auto pass = [&](Tape<float>& tape) { model(tape.constant(X)); };
//   std::cout << pass_table(model, pass);
template <class T>
WEFT_API std::string pass_table(
    const Module<T>& model, const std::type_identity_t<std::function<void(Tape<T>& tape)>>& pass);

}  // namespace weft
