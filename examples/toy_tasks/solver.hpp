// Solver: a task with its model, which answers questions.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <weft/layers.hpp>
#include <weft/train/data/pairs.hpp>
#include "examples/toy_tasks/task.hpp"

namespace weft::toy_tasks {

// The embedding size, the number of blocks in the encoder and in the decoder, and the number of
// attention heads per block.
constexpr Index width = 64, blocks = 2, heads = 4;

struct Solver {
  // Creates an untrained model. Keeps a reference to `task`.
  Solver(const Task& task, std::uint64_t seed);

  // Returns the source tokens of a question. Throws ValueError for an invalid question.
  TokenIds encode(const std::string& question) const;
  // Returns the source and the target tokens of an example.
  SequencePair encode_pair(const Example& example) const;
  // Returns the model's answers, by greedy decoding. Throws ValueError for an invalid question.
  std::vector<std::string> answer(std::span<const std::string> questions) const;
  // Returns the percentage of examples answered exactly right; 0 if `examples` is empty.
  double accuracy(std::span<const Example> examples) const;

  const Task& task;
  Vocabulary vocabulary;
  EncoderDecoder<float> model;
};

// Returns the path of the checkpoint of a task's model in a directory.
std::filesystem::path checkpoint_path(const std::filesystem::path& directory, const Task& task);

}  // namespace weft::toy_tasks
