#include "examples/toy_tasks/task.hpp"

#include <set>

#include <weft/autograd/error.hpp>
#include <weft/autograd/random.hpp>
#include "examples/toy_tasks/addition.hpp"
#include "examples/toy_tasks/dates.hpp"
#include "examples/toy_tasks/rearrangements.hpp"

namespace weft::toy_tasks {
namespace {

using examples::Split;

Example sample_from(const Task& task, Split split, Random& random) {
  Example example = task.sample(random);
  while (split_of(example) != split) example = task.sample(random);
  return example;
}

}  // namespace

const std::vector<Task>& all_tasks() {
  static const std::vector<Task> tasks{copy_task(), reverse_task(), sort_task(), addition_task(),
                                       date_task()};
  return tasks;
}

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const Task& task : all_tasks()) names.push_back(task.name);
  return names;
}

const Task& find_task(std::string_view name) {
  for (const Task& task : all_tasks())
    if (task.name == name) return task;
  std::string names;
  for (const Task& task : all_tasks()) names += (names.empty() ? "" : ", ") + task.name;
  fail<ValueError>("task", "one of " + names, str_cat('\'', name, '\''));
}

Vocabulary make_vocabulary(const Task& task) {
  std::vector<std::string> symbols;
  for (const char c : task.alphabet) symbols.emplace_back(1, c);
  return Vocabulary(symbols);
}

Split split_of(const Example& example) { return examples::split_of(example.answer); }

std::vector<Example> training_examples(const Task& task, Index count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Example> examples;
  while (static_cast<Index>(examples.size()) < count)
    examples.push_back(sample_from(task, Split::train, random));
  return examples;
}

std::vector<Example> held_out_examples(const Task& task, Split split, Index count,
                                       std::uint64_t seed) {
  if (split == Split::train)
    fail<ValueError>("held-out examples", "the split validation or test", to_string(split));
  Random random(seed);
  std::set<std::string> questions;
  std::vector<Example> examples;
  while (static_cast<Index>(examples.size()) < count) {
    Example example = sample_from(task, split, random);
    if (questions.insert(example.question).second) examples.push_back(std::move(example));
  }
  return examples;
}

}  // namespace weft::toy_tasks
