// Profile: where time and memory go, by operation, by layer and by thread.
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

// What the machine can do at most, with the threads that `parallel_for` uses here.
struct MachineLimits {
  double flops_per_second = 0.0;  // of a large matrix product of floats
  double bytes_per_second = 0.0;  // of copying memory, read and written
};

// Measures for about a quarter of a second.
WEFT_API MachineLimits measure_limits();

// The sum of what was measured of an operation, a layer or a phase.
struct ProfileRow {
  std::string layer;              // "blocks.0.attention"; empty for the model itself; or the phase
  std::string operation;          // empty for a layer or a phase
  std::int64_t calls = 0;         // in forward
  double forward_seconds = 0.0;   // and those of a phase
  double backward_seconds = 0.0;  // without those of forward
  double flops = 0.0;             // of matrix products
  double bytes = 0.0;             // read and written
  double memory = 0.0;  // bytes by which the tape's memory grew until forward had computed it
  // Of forward and backward.
  double seconds() const { return forward_seconds + backward_seconds; }
};

// What memory holds when a step has the most of it, in bytes: of a layer and the layers within it.
struct MemoryRow {
  std::string layer;        // "blocks.0.attention"; empty for the model itself
  double parameters = 0.0;  // frozen ones, too
  double gradients = 0.0;   // of parameters
  double optimizer = 0.0;   // its state
  double values = 0.0;      // that backward still needs
  double computing = 0.0;   // gradients of values and scratch memory, where backward is
  // All of them.
  double bytes() const { return parameters + gradients + optimizer + values + computing; }
};

class ProfileRecorder;

// Measures all passes of tapes that observe it, and the phases of a program around them:
//   Profile profile(model);
//   Tape tape({.training = true, .observer = &profile});
//   tape.backward(sum(model(tape.constant(X))));
//   profile.end_step();
//   std::cout << profile.operation_table() << profile.layer_table();
// The time of an operation is that since the operation, the phase or the parallel range before it,
// on the same thread. An operation belongs to the layer whose parameters it uses; without
// parameters, to the innermost layer that has those used before and after it. FLOPs are those of
// matrix products; backward has twice those of forward, and twice its bytes. Bytes are those of
// results, recorded inputs and parameters, each once.
//
// `end_step` and phases are for the thread that made the profile; tapes may be used on other
// threads.
class WEFT_API Profile final : public TapeObserver {
 public:
  // Takes the names of the layers; the model must not be moved afterwards. Measures the machine.
  template <class T>
  explicit Profile(const Module<T>& model);
  ~Profile() override;
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // A part of a step, until the object is destroyed. With a null profile, nothing. The name must
  // outlive the profile.
  class WEFT_API Phase {
   public:
    // Begins it.
    Phase(Profile* profile, const char* name);
    ~Phase();
    Phase(const Phase&) = delete;
    Phase& operator=(const Phase&) = delete;

   private:
    Profile* profile_;
    const char* name_;
    double start_ = 0.0;
  };

  // Ends a step of the program. The first step is for warming up, and not part of the results.
  void end_step();

  // For `memory`: counts an optimizer's state, and the gradients of its parameters, as many times
  // as a ParallelPass has `parts`.
  template <class T>
  void count_memory(const Optimizer<T>& optimizer, Index parts = 1);

  // Sums over all measured steps, the longest time first; operations by layer.
  std::vector<ProfileRow> operations() const;
  std::vector<ProfileRow> phases() const;  // the same of phases
  // Each layer with the layers within it, from the model on, in the order of `members`.
  std::vector<ProfileRow> layers() const;
  // The same layers at the peak of the tapes' memory, as each backward function saw it.
  std::vector<MemoryRow> memory() const;
  std::int64_t steps() const;           // measured
  double step_seconds() const;          // the mean
  const MachineLimits& limits() const;  // of this machine

  // The same as text: a line each, with milliseconds of a step and shares.
  std::string phase_table() const;
  // The same of operations, of all layers together, with how much of the machine's limits is used.
  std::string operation_table() const;
  // The same of layers; those at one place in the elements of a list together.
  std::string layer_table() const;
  // The same of memory, in MB.
  std::string memory_table() const;

  // Of one pass; see the function below.
  std::string pass_table() const;

  // The seconds that a step would take on so many threads, from the measured durations of all
  // parallel ranges, which are given to the threads in order: memory bandwidth and caches are
  // taken to grow with the threads. Throws ValueError unless threads ≥ 1.
  double predicted_step_seconds(int threads) const;

  // Writes the first steps measured as a trace that Perfetto (ui.perfetto.dev) and Chrome
  // (chrome://tracing) show, with a row a thread. Throws FileError.
  void write_trace(const std::filesystem::path& path) const;

  void observe(const TapeEvent& event) override;

 private:
  std::unique_ptr<ProfileRecorder> recorder_;
};

// What a pass of a model costs, before anything is trained: the tree of layers with the shape of
// what each computes, its parameters, and of all that it computes the FLOPs of matrix products in
// forward and the memory that is kept for backward. `pass` runs the model on the tape that it is
// given. Throws ValueError for an empty function.
//   auto pass = [&](Tape<float>& tape) { model(tape.constant(X)); };
//   std::cout << pass_table(model, pass);
template <class T>
WEFT_API std::string pass_table(
    const Module<T>& model, const std::type_identity_t<std::function<void(Tape<T>& tape)>>& pass);

}  // namespace weft
