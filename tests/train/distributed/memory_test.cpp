// Steps of several processes allocate no memory from the heap after the first ones.
#include "tests/allocations.hpp"
#include "tests/catch.hpp"
#include "tests/train/distributed/several_processes.hpp"

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

}  // namespace

TEST_CASE("processes: the exchange of a step allocates nothing", "[processes]") {
  const int before = thread_count();
  set_thread_count(1);
  // Reading a batch and its parts allocates; every process computes fewer parts than one alone.
  CHECK(allocations_of_steps(&test_processes()) <= allocations_of_steps(nullptr));
  set_thread_count(before);
}

TEST_CASE("processes: the state of an optimizer is divided among them", "[processes]") {
  class Bytes final : public State<float> {
   public:
    void tensor(const std::string&, Tensor<float>&) override {}
    void integer(const std::string&, std::int64_t&) override {}
    void number(const std::string&, double&) override {}
    void text(const std::string&, std::string&) override {}
  };
  if (test_processes().size() == 1) return;
  ManyElementsTraining<float> training;
  AdamW<float> optimizer(training.model);
  bool throws = false;
  Trainer(training.model, optimizer, training.batches, training.loss(),
          {.epochs = 9,
           .parts = 4,
           .should_stop =
               [&] {
                 Bytes state;
                 try {
                   optimizer.state(state);
                 } catch (const Error&) {
                   throws = true;
                 }
                 return true;
               },
           .processes = &test_processes()})
      .run();
  CHECK(throws);
  Bytes whole;
  optimizer.state(whole);
}
