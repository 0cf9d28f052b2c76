#include "examples/toy_tasks/program.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <span>

#include <weft/train/weights/checkpoint.hpp>
#include "examples/common/command_line.hpp"
#include "examples/common/output_files.hpp"
#include "examples/common/program.hpp"
#include "examples/toy_tasks/pictures.hpp"

namespace weft::toy_tasks {
namespace {

namespace fs = std::filesystem;

constexpr Index test_examples = 1000, printed_examples = 6;
// All training examples are created before training.
constexpr std::int64_t most_steps = 20'000;

struct Options {
  std::string task = "all";
  std::string question;
  std::int64_t steps = 0;
  double seconds = 180.0;
  std::int64_t seed = 1;
  Precision precision = Precision::full;
  std::string out = "build/tour";
};

// Parses the command line. Returns false if --help is given.
bool parse(int argc, char** argv, Options& options) {
  std::vector<std::string> choices = task_names();
  choices.insert(choices.begin(), "all");
  examples::CommandLine line("toy_tasks",
                             "Trains a small transformer on each sequence task, and measures its "
                             "accuracy on held-out questions.");
  line.choice("task", "task to train on", options.task, choices);
  line.option("say",
              "instead of training, answer this question with the task's saved model in --out",
              options.question);
  line.option("steps", "maximum number of training steps per task; 0: the task's default",
              options.steps, 0, most_steps);
  line.option("seconds", "maximum training time per task, in seconds", options.seconds, 0.0, 1e6);
  line.option("seed", "random seed", options.seed, 0, 1'000'000'000);
  line.choice("precision", "precision of the inputs of matrix products in training",
              options.precision);
  line.option("out", "output directory for models and plots", options.out);
  if (!line.parse(argc, argv)) return false;
  if (!options.question.empty() && options.task == "all")
    fail<examples::UsageError>("option --say", "the option --task", "none");
  if (!options.question.empty())
    line.without_effect({"steps", "seconds", "seed", "precision"}, "with --say");
  return true;
}

// The results of a task: a row of the final table.
struct Result {
  std::string task;
  Index parameters = 0;
  TrainingHistory history = {};
  double accuracy = 0.0;
};

// Prints a line for each example: question, answer, and whether it is correct.
void print_answers(const Solver& solver, std::span<const Example> examples) {
  std::vector<std::string> questions;
  std::size_t question_width = 0, answer_width = 0;
  for (const auto& [question, answer] : examples) {
    questions.push_back(question);
    question_width = std::max(question_width, question.size());
    answer_width = std::max(answer_width, answer.size());
  }
  const std::vector<std::string> answers = solver.answer(questions);
  std::cout << std::left;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const std::string& expected = examples[i].answer;
    std::cout << "  " << std::setw(static_cast<int>(question_width)) << questions[i] << " → "
              << std::setw(static_cast<int>(answer_width)) << answers[i]
              << (answers[i] == expected ? "  correct" : "  wrong, expected " + expected) << '\n';
  }
  std::cout << std::right;
}

fs::path accuracy_picture(const Options& options) {
  return fs::path(options.out) / "toy_tasks_accuracy.svg";
}
fs::path attention_picture(const Options& options) {
  return fs::path(options.out) / "toy_tasks_reverse.svg";
}

bool is_selected(const Task& task, const Options& options) {
  return options.task == "all" || options.task == task.name;
}

// Throws FileError if a result of the program cannot be written.
void check_outputs(const Options& options) {
  examples::make_directory(options.out);
  for (const Task& task : all_tasks())
    if (is_selected(task, options)) examples::check_replaceable(checkpoint_path(options.out, task));
  examples::check_picture(attention_picture(options));
  examples::check_picture(accuracy_picture(options));
}

// Trains a model, saves it and measures its accuracy. If training is interrupted, the model is
// saved but not tested, and an earlier checkpoint is kept.
Result train_task(const Task& task, const Options& options, const SignalHandler& interrupt,
                  ProcessGroup& processes) {
  const auto seed = static_cast<std::uint64_t>(options.seed);
  Solver solver(task, seed);
  Result result{.task = task.name, .parameters = count_parameters(solver.model)};
  std::cout << task.name << ": " << task.about << "; " << result.parameters << " parameters\n";
  result.history = train(solver, {.steps = options.steps > 0 ? options.steps : task.steps,
                                  .seconds = options.seconds,
                                  .seed = seed,
                                  .interrupt = &interrupt,
                                  .output = &std::cout,
                                  .precision = options.precision,
                                  .processes = &processes});
  if (!processes.is_root()) return result;
  fs::path checkpoint = checkpoint_path(options.out, task);
  if (result.history.interrupted && fs::exists(checkpoint))
    checkpoint.replace_extension(".interrupted.h5");
  save_checkpoint(checkpoint, solver.model);
  if (result.history.interrupted) {
    std::cout << "  interrupted after " << result.history.steps << " steps; the model is in "
              << checkpoint.string() << "\n\n";
    return result;
  }

  const std::vector<Example> test =
      held_out_examples(task, examples::Split::test, test_examples, seed);
  result.accuracy = solver.accuracy(test);
  print_answers(solver, std::span(test).first(printed_examples));
  std::cout << std::fixed << std::setprecision(1) << "  " << result.accuracy << " % of "
            << test_examples << " held-out questions answered correctly, after "
            << result.history.steps << " steps and " << result.history.seconds << " s\n";
  if (task.name == "reverse")
    std::cout
        << "  After enough training, the attention weights of the last decoder block form an\n"
           "  anti-diagonal: "
        << draw_attention(solver, "antidiagonal", attention_picture(options)) << '\n';
  std::cout << std::endl;
  return result;
}

void print_table(const std::vector<Result>& results) {
  std::cout << "task     parameters   steps   seconds   correct of " << test_examples
            << " held out\n";
  for (const Result& result : results)
    std::cout << std::left << std::setw(7) << result.task << std::right << std::setw(12)
              << result.parameters << std::setw(8) << result.history.steps << std::fixed
              << std::setprecision(1) << std::setw(10) << result.history.seconds << std::setw(22)
              << result.accuracy << " %\n";
}

// Trains the selected tasks and returns the exit status. If interrupted, prints the results of the
// finished tasks.
int train_tasks(const Options& options, ProcessGroup& processes) {
  if (processes.is_root()) check_outputs(options);
  const SignalHandler interrupt;
  std::vector<Result> results;
  std::vector<examples::Line> lines;
  int exit_status = 0;
  for (const Task& task : all_tasks()) {
    if (!is_selected(task, options) || exit_status != 0) continue;
    const Result result = train_task(task, options, interrupt, processes);
    exit_status = result.history.exit_status;
    if (!result.history.validation_seconds.empty())
      lines.push_back(accuracy_line(task, result.history));
    if (!result.history.interrupted) results.push_back(result);
  }
  if (!processes.is_root()) return exit_status;
  if (!results.empty()) print_table(results);
  if (!lines.empty()) std::cout << draw_accuracies(lines, accuracy_picture(options)) << '\n';
  return exit_status;
}

void answer_question(const Options& options) {
  const Task& task = find_task(options.task);
  Solver solver(task, 0);
  load_checkpoint(checkpoint_path(options.out, task), solver.model);
  std::cout << solver.answer({&options.question, 1}).front() << '\n';
}

}  // namespace

int run_program(int argc, char** argv) {
  return examples::run_training("toy_tasks", [&](ProcessGroup& processes) {
    Options options;
    if (!parse(argc, argv, options)) return 0;
    if (options.question.empty()) return train_tasks(options, processes);
    answer_question(options);
    return 0;
  });
}

}  // namespace weft::toy_tasks
