// Steps of several processes allocate no memory from the heap after the first ones, and each
// process has its share of the optimizer's state only.
#include <cmath>

#include "tests/allocations.hpp"
#include "tests/catch.hpp"
#include "tests/train/parallel/processes/several_processes.hpp"

using namespace weft;

namespace {

// What steps 3 to 8 allocate, each of which reads a batch.
std::int64_t allocations_of_steps(ProcessGroup* processes) {
  ManyElementsTraining<float> training;
  AdamW<float> optimizer(training.model);
  const auto loss = training.loss();
  int steps = 0;
  std::int64_t before = 0, after = 0;
  Trainer(training.model, optimizer, training.batches, loss,
          {.epochs = 9,
           .parts = 4,
           .should_stop =
               [&] {
                 ++steps;
                 if (steps == 2) before = allocations;
                 if (steps == 8) after = allocations;
                 return steps == 8;
               },
           .processes = processes})
      .run();
  return after - before;
}

// What a training allocates until the end of its second step.
template <class Optimizer, class Options>
std::int64_t bytes_of_two_steps(ProcessGroup* processes, const Options& options) {
  ManyElementsTraining<float> training;
  const std::int64_t before = allocated_bytes;
  std::int64_t after = 0;
  int steps = 0;
  Optimizer optimizer(training.model, options);
  Trainer(training.model, optimizer, training.batches, training.loss(),
          {.epochs = 9,
           .parts = 4,
           .should_stop =
               [&] {
                 after = allocated_bytes;
                 return ++steps == 2;
               },
           .processes = processes})
      .run();
  return after - before;
}

// Of AdamW: what it allocates beyond an optimizer without state.
double bytes_of_state(ProcessGroup* processes) {
  return static_cast<double>(bytes_of_two_steps<AdamW<float>>(processes, AdamWOptions{}) -
                             bytes_of_two_steps<SGD<float>>(processes, SGDOptions{}));
}

}  // namespace

TEST_CASE("processes: the exchange of a step allocates nothing", "[processes]") {
  const int before = thread_count();
  set_thread_count(1);
  // Reading a batch and its parts allocates; every process computes fewer parts than one alone.
  CHECK(allocations_of_steps(&test_processes()) <= allocations_of_steps(nullptr));
  set_thread_count(before);
}

TEST_CASE("processes: the state of an optimizer is divided among them", "[processes]") {
  const int before = thread_count();
  set_thread_count(1);
  ManyElements<float> model;
  const double whole = 2.0 * 4.0 * static_cast<double>(count_parameters(model));
  CHECK(std::abs(bytes_of_state(nullptr) - whole) < 0.02 * whole);
  ProcessGroup& processes = test_processes();
  std::vector<double> of_each(static_cast<std::size_t>(processes.size()));
  of_each[static_cast<std::size_t>(processes.rank())] = bytes_of_state(&processes);
  processes.all_reduce(of_each);
  double sum = 0.0;
  for (const double bytes : of_each) {
    INFO(bytes << " of " << whole << " bytes");
    // Whole ranges of elements are divided, of which this model has thirteen.
    CHECK(bytes < whole * (1.0 / processes.size() + 0.2));
    sum += bytes;
  }
  CHECK(std::abs(sum - whole) < 0.05 * whole);

  // Divided, it cannot be saved; the trainer collects it first.
  ManyElementsTraining<float> training;
  AdamW<float> optimizer(training.model);
  bool has_state = true;
  const auto stop = [&] {
    Recorder<float> recorder;
    try {
      optimizer.state(recorder);
    } catch (const Error&) {
      has_state = false;
    }
    return true;
  };
  Trainer(training.model, optimizer, training.batches, training.loss(),
          {.epochs = 9, .parts = 4, .should_stop = stop, .processes = &processes})
      .run();
  CHECK(has_state == (processes.size() == 1));
  set_thread_count(before);
}
