// Task: a generator of short text questions and their answers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/autograd/random.hpp>
#include <weft/train/data/vocabulary.hpp>
#include "examples/common/held_out.hpp"

namespace weft::toy_tasks {

struct Example {
  std::string question;
  std::string answer;
};

inline std::string identity(const std::string& text) { return text; }

struct Task {
  std::string name;
  // A short description.
  std::string about;
  // The characters of sources and targets.
  std::string alphabet;
  // The maximum number of characters of a source and of a target.
  Index max_len = 0;
  // The default number of training steps, and the peak learning rate.
  std::int64_t steps = 0;
  double learning_rate = 0.0;

  // Samples a random question and its answer.
  std::function<Example(Random&)> sample = {};
  // Converts a question to the source text of the model. Throws ValueError for an invalid question.
  std::function<std::string(const std::string& question)> to_source = {};
  // Convert an answer to the target text of the model, and back.
  std::function<std::string(const std::string& answer)> to_target = identity;
  std::function<std::string(const std::string& target)> from_target = identity;
};

// Returns the tasks copy, reverse, sort, add and dates.
const std::vector<Task>& all_tasks();
std::vector<std::string> task_names();
// Returns the task with this name. Throws ValueError for an unknown name.
const Task& find_task(std::string_view name);

// Returns a vocabulary with one symbol per character of the alphabet.
Vocabulary make_vocabulary(const Task& task);

// Returns the split of an example. It depends only on the answer, so the splits have no answers in
// common: a date is held out in all formats, a multiset of digits in all orders, and a sum with all
// operands.
examples::Split split_of(const Example& example);

// Returns `count` examples of the training split, determined by the seed. A larger count appends
// examples to those of a smaller count. Questions may repeat.
std::vector<Example> training_examples(const Task& task, Index count, std::uint64_t seed);
// Returns `count` examples of the validation or the test split, with distinct questions. Throws
// ValueError for the training split.
std::vector<Example> held_out_examples(const Task& task, examples::Split split, Index count,
                                       std::uint64_t seed);

}  // namespace weft::toy_tasks
