// Task: questions about short texts, each with one answer, and as many of them as one likes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <weft/autograd/random.hpp>
#include <weft/train/data/vocabulary.hpp>
#include "examples/common/held_out.hpp"

namespace weft::toy_tasks {

struct Example {
  std::string question;
  std::string answer;
};

// The text itself.
inline std::string unchanged(const std::string& text) { return text; }

struct Task {
  std::string name;
  // What is asked, in a few words.
  std::string about;
  // Every character that a question or an answer may have.
  std::string alphabet;
  // The most characters that the model reads, and that it writes.
  Index longest = 0;
  // Updates that are enough to learn it, and the highest learning rate.
  std::int64_t steps = 0;
  double learning_rate = 0.0;

  // A random question with its answer.
  std::function<Example(Random&)> draw = {};
  // The question as the model reads it. Throws ValueError for what is not a question of the task.
  std::function<std::string(const std::string& question)> spell_question = {};
  // The answer as the model writes it, and back.
  std::function<std::string(const std::string& answer)> spell_answer = unchanged;
  std::function<std::string(const std::string& spelled)> read_answer = unchanged;
};

// copy, reverse, sort, add and dates.
const std::vector<Task>& all_tasks();
std::vector<std::string> task_names();
// Throws ValueError for a name that no task has.
const Task& task_named(const std::string& name);

// A symbol for each character of the alphabet.
Vocabulary vocabulary_of(const Task& task);

// Which part an example belongs to is decided by its answer: training never sees a question that
// has the answer of a held-out one. So a date that is held out is so in all of its forms, a
// multiset of digits in all of its orders, and a sum for all of its operands.
examples::Split split_of(const Example& example);

// The seed decides them, and how many are asked for does not change the first ones. Questions may
// repeat.
std::vector<Example> training_examples(const Task& task, Index count, std::uint64_t seed);
// The same with questions that are all different. Throws ValueError for the part `train`.
std::vector<Example> held_out_examples(const Task& task, examples::Split part, Index count,
                                       std::uint64_t seed);

}  // namespace weft::toy_tasks
