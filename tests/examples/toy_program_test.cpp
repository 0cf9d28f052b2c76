#include <filesystem>
#include <fstream>

#include "examples/toy_tasks/learning.hpp"
#include "examples/toy_tasks/program.hpp"
#include "tests/catch.hpp"
#include "tests/examples/outcome.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
using namespace weft::toy_tasks;

namespace {

Outcome run(const std::vector<std::string>& arguments) {
  return outcome_of(run_program, "toy_tasks", arguments);
}

// The loss on a few examples that training does not see.
float held_out_loss(const Solver& solver) {
  std::vector<SequencePair> pairs;
  for (const Example& example : held_out_examples(solver.task, examples::Split::validation, 32, 5))
    pairs.push_back(solver.pair(example));
  Tape tape = Tape<float>::inference();
  return loss(solver.model, tape, PairBatches(pairs).batch(0, 0)).item();
}

}  // namespace

TEST_CASE("toy tasks: a few steps make the loss smaller", "[examples]") {
  Solver solver(task_named("sort"), 1);
  const float before = held_out_loss(solver);
  const Learning learning = learn(solver, {.steps = 20});
  CHECK(held_out_loss(solver) < 0.8f * before);
  CHECK(learning.steps == 20);
  CHECK(learning.validation_accuracies.size() == 1);
  CHECK(learning.validation_seconds.front() <= learning.seconds);
}

TEST_CASE("toy tasks: training stops when its time is over", "[examples]") {
  Solver solver(task_named("copy"), 1);
  CHECK(learn(solver, {.steps = 1000, .seconds = 0.0}).steps == 1);
}

TEST_CASE("toy tasks: the program learns, draws, and answers with what it learned", "[examples]") {
  const TemporaryFolder folder;
  const std::string out = (folder / "tour").string();
  const Outcome learned = run({"--task", "reverse", "--steps", "2", "--out", out});
  INFO(learned.errors);
  REQUIRE(learned.status == 0);
  CHECK(contains(learned.output, "reverse: letters in the opposite order"));
  CHECK(contains(learned.output, "right of 1000 held out"));
  for (const char* file :
       {"toy_tasks_reverse.h5", "toy_tasks_reverse.dat", "toy_tasks_accuracy.dat"})
    CHECK(std::filesystem::exists(folder / "tour" / file));

  const Outcome said = run({"--task", "reverse", "--say", "weft", "--out", out});
  CHECK(said.status == 0);
  CHECK(said.errors.empty());
  const Outcome unfit = run({"--task", "reverse", "--say", "WEFT", "--out", out});
  CHECK(unfit.status == 1);
  CHECK(is_one_line(unfit.errors));
  CHECK(contains(unfit.errors, "toy_tasks: question: expected 1 … 16 characters"));
}

TEST_CASE("toy tasks: what cannot work is said in one line", "[examples]") {
  const TemporaryFolder folder;
  const auto complaint = [](const std::vector<std::string>& arguments, int status) {
    const Outcome outcome = run(arguments);
    CHECK(outcome.status == status);
    CHECK(is_one_line(outcome.errors));
    return outcome.errors;
  };
  CHECK(contains(complaint({"--task", "divide"}, 2),
                 "option --task: expected one of all, copy, reverse, sort, add, dates, got "
                 "'divide'"));
  CHECK(contains(complaint({"--steps", "-1"}, 2), "option --steps: expected a number in 0 …"));
  CHECK(contains(complaint({"--seconds", "soon"}, 2), "option --seconds"));
  CHECK(contains(complaint({"--threads", "0"}, 2), "option --threads"));
  CHECK(contains(complaint({"copy"}, 2), "expected options only, got 'copy'"));
  CHECK(contains(complaint({"--say", "1+2"}, 2), "option --say: expected a --task beside it"));
  CHECK(contains(complaint({"--task", "add", "--say", "1+2", "--out", folder.path().string()}, 1),
                 "toy_tasks_add.h5"));
  std::ofstream(folder / "toy_tasks_add.h5") << "not a checkpoint";
  CHECK(contains(complaint({"--task", "add", "--say", "1+2", "--out", folder.path().string()}, 1),
                 "toy_tasks_add.h5"));
  CHECK(contains(complaint({"--out", "/dev/null/out"}, 1),
                 "folder '/dev/null/out': expected one that can be made"));
  const Outcome help = run({"--help"});
  CHECK(help.status == 0);
  CHECK(contains(help.output, "--task"));
}
