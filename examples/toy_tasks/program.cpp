#include "examples/toy_tasks/program.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <span>

#include <weft/train/weights/checkpoint.hpp>
#include "examples/common/command_line.hpp"
#include "examples/common/program.hpp"
#include "examples/toy_tasks/pictures.hpp"

namespace weft::toy_tasks {
namespace {

namespace fs = std::filesystem;

constexpr Index test_examples = 1000, shown_examples = 6;

struct Options {
  std::string task = "all";
  std::string question;
  std::int64_t steps = 0;
  double seconds = 180.0;
  std::int64_t seed = 1;
  std::string out = "build/tour";
};

// Reads the command line. False when help was asked for.
bool parse(int argc, char** argv, Options& options) {
  std::vector<std::string> choices = task_names();
  choices.insert(choices.begin(), "all");
  examples::CommandLine line("toy_tasks",
                             "Learns small tasks on sequences, each by a transformer of its own, "
                             "and counts the right answers to questions it never saw.");
  line.choice("task", "what to learn", options.task, choices);
  line.option("say", "answer this with the task's model that --out keeps, and learn nothing",
              options.question);
  line.option("steps", "at most so many updates a task; 0: as many as it needs", options.steps, 0,
              1'000'000);
  line.option("seconds", "at most so much time a task", options.seconds, 0.0, 1e6);
  line.option("seed", "of all random numbers", options.seed, 0, 1'000'000'000);
  line.option("out", "folder for models and pictures", options.out);
  if (!line.parse(argc, argv)) return false;
  if (!options.question.empty() && options.task == "all")
    fail<examples::UsageError>("option --say", "a --task beside it", "none");
  return true;
}

// What a task came to: a row of the last table.
struct Row {
  std::string task;
  Index parameters = 0;
  Learning learning = {};
  double accuracy = 0.0;
};

// A line for each example: question, answer, and whether it is right.
void show_answers(const Solver& solver, std::span<const Example> examples) {
  std::vector<std::string> questions;
  std::size_t longest_question = 0, longest_answer = 0;
  for (const auto& [question, answer] : examples) {
    questions.push_back(question);
    longest_question = std::max(longest_question, question.size());
    longest_answer = std::max(longest_answer, answer.size());
  }
  const std::vector<std::string> answers = solver.answer(questions);
  std::cout << std::left;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const std::string& expected = examples[i].answer;
    std::cout << "  " << std::setw(static_cast<int>(longest_question)) << questions[i] << " → "
              << std::setw(static_cast<int>(longest_answer)) << answers[i]
              << (answers[i] == expected ? "  right" : "  wrong, it is " + expected) << '\n';
  }
  std::cout << std::right;
}

Row learn_task(const Task& task, const Options& options) {
  const auto seed = static_cast<std::uint64_t>(options.seed);
  Solver solver(task, seed);
  Row row{.task = task.name, .parameters = count_parameters(solver.model)};
  std::cout << task.name << ": " << task.about << "; " << row.parameters << " parameters\n";
  row.learning = learn(solver, {.steps = options.steps > 0 ? options.steps : task.steps,
                                .seconds = options.seconds,
                                .seed = seed,
                                .output = &std::cout});
  save_checkpoint(checkpoint_of(options.out, task), solver.model);

  const std::vector<Example> test =
      held_out_examples(task, examples::Split::test, test_examples, seed);
  row.accuracy = solver.accuracy(test);
  show_answers(solver, std::span(test).first(shown_examples));
  std::cout << std::fixed << std::setprecision(1) << "  " << row.accuracy << " % of "
            << test_examples << " held-out questions answered right, after " << row.learning.steps
            << " steps and " << row.learning.seconds << " s\n";
  if (task.name == "reverse")
    std::cout << "  once that is learned, the heads of the decoder's last block go through the "
                 "letters\n  from the last to the first, an anti-diagonal: "
              << draw_attention(solver, "antidiagonal",
                                fs::path(options.out) / "toy_tasks_reverse.svg")
              << '\n';
  std::cout << std::endl;
  return row;
}

void write_table(const std::vector<Row>& rows) {
  std::cout << "task     parameters   steps   seconds   right of " << test_examples
            << " held out\n";
  for (const Row& row : rows)
    std::cout << std::left << std::setw(7) << row.task << std::right << std::setw(12)
              << row.parameters << std::setw(8) << row.learning.steps << std::fixed
              << std::setprecision(1) << std::setw(10) << row.learning.seconds << std::setw(20)
              << row.accuracy << " %\n";
}

void learn_tasks(const Options& options) {
  examples::make_folder(options.out);
  std::vector<Row> rows;
  std::vector<examples::Line> lines;
  for (const Task& task : all_tasks()) {
    if (options.task != "all" && options.task != task.name) continue;
    rows.push_back(learn_task(task, options));
    lines.push_back(accuracy_line(task, rows.back().learning));
  }
  write_table(rows);
  std::cout << draw_accuracies(lines, fs::path(options.out) / "toy_tasks_accuracy.svg") << '\n';
}

void say(const Options& options) {
  const Task& task = task_named(options.task);
  Solver solver(task, 0);
  load_checkpoint(checkpoint_of(options.out, task), solver.model);
  std::cout << solver.answer({&options.question, 1}).front() << '\n';
}

}  // namespace

int run_program(int argc, char** argv) {
  return examples::run_program("toy_tasks", [&] {
    Options options;
    if (!parse(argc, argv, options)) return 0;
    if (options.question.empty())
      learn_tasks(options);
    else
      say(options);
    return 0;
  });
}

}  // namespace weft::toy_tasks
