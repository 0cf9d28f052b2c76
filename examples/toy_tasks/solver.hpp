// Solver: a model of one task, asked and answering in text.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "examples/common/encoder_decoder.hpp"
#include "examples/toy_tasks/task.hpp"

namespace weft::toy_tasks {

// The vectors inside every model, the blocks of its encoder and of its decoder, and their heads.
constexpr Index width = 64, blocks = 2, heads = 4;

struct Solver {
  // A model that knows nothing yet; the task must outlive it.
  Solver(const Task& task, std::uint64_t seed);

  // A question's or an answer's tokens.
  Sequence read(const std::string& question) const;
  SequencePair pair(const Example& example) const;
  // The answers that greedy decoding finds. Throws ValueError for what is not a question.
  std::vector<std::string> answer(std::span<const std::string> questions) const;
  // The share of examples that are answered exactly right, in percent; 0 without any.
  double accuracy(std::span<const Example> examples) const;

  const Task& task;
  Vocabulary vocabulary;
  examples::EncoderDecoder<float> model;
};

// The checkpoint that a folder keeps of a task's model.
std::filesystem::path checkpoint_of(const std::filesystem::path& folder, const Task& task);

}  // namespace weft::toy_tasks
