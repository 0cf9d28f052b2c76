#include <csignal>
#include <filesystem>
#include <fstream>
#include <utility>

#include <weft/train/losses.hpp>
#include "examples/toy_tasks/program.hpp"
#include "examples/toy_tasks/training.hpp"
#include "tests/catch.hpp"
#include "tests/examples/outcome.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
using namespace weft::toy_tasks;

namespace {

Outcome run(const std::vector<std::string>& arguments) {
  return outcome_of(run_program, "toy_tasks", arguments);
}

// Raises a signal as soon as `text` was written.
class SignallingBuffer final : public std::stringbuf {
 public:
  SignallingBuffer(std::string text, int signal) : text_(std::move(text)), signal_(signal) {}

 private:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    const std::streamsize written = std::stringbuf::xsputn(text, size);
    if (signal_ != 0 && contains(str(), text_)) std::raise(std::exchange(signal_, 0));
    return written;
  }

  std::string text_;
  int signal_;
};

// The loss on a few validation examples.
float held_out_loss(const Solver& solver) {
  std::vector<SequencePair> pairs;
  for (const Example& example : held_out_examples(solver.task, examples::Split::validation, 32, 5))
    pairs.push_back(solver.encode_pair(example));
  Tape tape = Tape<float>::inference();
  return batch_loss(solver.model, tape, PairBatches(pairs).batch(0, 0)).item();
}

}  // namespace

TEST_CASE("toy tasks: a few training steps reduce the loss", "[examples]") {
  Solver solver(find_task("sort"), 1);
  const float before = held_out_loss(solver);
  const TrainingHistory history = train(solver, {.steps = 20});
  CHECK(held_out_loss(solver) < 0.8f * before);
  CHECK(history.steps == 20);
  CHECK(history.validation_accuracies.size() == 1);
  CHECK(history.validation_seconds.front() <= history.seconds);
}

TEST_CASE("toy tasks: training stops at the time limit", "[examples]") {
  Solver solver(find_task("copy"), 1);
  CHECK(train(solver, {.steps = 1000, .seconds = 0.0}).steps == 1);
}

TEST_CASE("toy tasks: the program trains, draws, and answers with the saved model", "[examples]") {
  const TemporaryFolder directory;
  const std::string out = (directory / "tour").string();
  const Outcome trained = run({"--task", "reverse", "--steps", "2", "--out", out});
  INFO(trained.errors);
  REQUIRE(trained.status == 0);
  CHECK(contains(trained.output, "reverse: letters in reverse order"));
  CHECK(contains(trained.output, "correct of 1000 held out"));
  for (const char* file :
       {"toy_tasks_reverse.h5", "toy_tasks_reverse.dat", "toy_tasks_accuracy.dat"})
    CHECK(std::filesystem::exists(directory / "tour" / file));

  const Outcome answered = run({"--task", "reverse", "--say", "weft", "--out", out});
  CHECK(answered.status == 0);
  CHECK(answered.errors.empty());
  const Outcome invalid = run({"--task", "reverse", "--say", "WEFT", "--out", out});
  CHECK(invalid.status == 1);
  CHECK(is_one_line(invalid.errors));
  CHECK(contains(invalid.errors, "toy_tasks: question: expected 1 to 16 characters"));
}

TEST_CASE("toy tasks: an interrupted program keeps the tasks that it finished and its model",
          "[examples]") {
  const TemporaryFolder directory;
  const std::string out = directory.path().string();
  const auto run_until = [&](const std::string& text, int signal) {
    SignallingBuffer buffer(text, signal);
    std::streambuf* const previous = std::cout.rdbuf(&buffer);
    std::vector<std::string> arguments{"toy_tasks", "--steps", "2", "--out", out};
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    const int status = run_program(static_cast<int>(argv.size()), argv.data());
    std::cout.rdbuf(previous);
    return Outcome{status, buffer.str(), ""};
  };
  const Outcome outcome = run_until("reverse:", SIGTERM);
  CHECK(outcome.status == 128 + SIGTERM);
  CHECK(contains(outcome.output, "interrupted after 0 steps; the model is in"));
  CHECK(contains(outcome.output, "correct of 1000 held out\ncopy "));
  CHECK_FALSE(contains(outcome.output, "sort:"));
  for (const char* file : {"toy_tasks_copy.h5", "toy_tasks_reverse.h5", "toy_tasks_accuracy.dat"})
    CHECK(std::filesystem::exists(directory / file));
  CHECK(run({"--task", "reverse", "--say", "weft", "--out", out}).status == 0);

  const std::string trained = bytes_of(directory / "toy_tasks_copy.h5");
  const Outcome at_once = run_until("copy:", SIGINT);
  CHECK((bytes_of(directory / "toy_tasks_copy.h5") == trained));
  CHECK(std::filesystem::exists(directory / "toy_tasks_copy.interrupted.h5"));
  CHECK(at_once.status == 130);
  CHECK_FALSE(contains(at_once.output, "held out"));
}

TEST_CASE("toy tasks: errors are one line on standard error", "[examples]") {
  const TemporaryFolder directory;
  const auto error_of = [](const std::vector<std::string>& arguments, int status) {
    const Outcome outcome = run(arguments);
    CHECK(outcome.status == status);
    CHECK(is_one_line(outcome.errors));
    return outcome.errors;
  };
  CHECK(contains(error_of({"--task", "divide"}, 2),
                 "option --task: expected one of all, copy, reverse, sort, add, dates, got "
                 "'divide'"));
  CHECK(contains(error_of({"--steps", "-1"}, 2), "option --steps: expected a number from 0 to "));
  CHECK(contains(error_of({"--seconds", "soon"}, 2), "option --seconds"));
  CHECK(contains(error_of({"--threads", "0"}, 2), "option --threads"));
  CHECK(contains(error_of({"copy"}, 2), "expected options only, got 'copy'"));
  CHECK(contains(error_of({"--task", "add", "--say", ""}, 2),
                 "option --say: expected a non-empty value, got ''"));
  CHECK(contains(error_of({"--out", ""}, 2), "option --out: expected a non-empty value, got ''"));
  CHECK(contains(error_of({"--say", "1+2"}, 2), "option --say: expected the option --task"));
  CHECK(contains(error_of({"--task", "add", "--say", "1+2", "--out", directory.path().string()}, 1),
                 "toy_tasks_add.h5"));
  std::ofstream(directory / "toy_tasks_add.h5") << "not a checkpoint";
  CHECK(contains(error_of({"--task", "add", "--say", "1+2", "--out", directory.path().string()}, 1),
                 "toy_tasks_add.h5"));
  CHECK(contains(error_of({"--out", "/dev/null/out"}, 1),
                 "cannot create directory '/dev/null/out': "));
  const Outcome help = run({"--help"});
  CHECK(help.status == 0);
  CHECK(contains(help.output, "--task"));
}
