// Plots of accuracies and attention weights.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "examples/common/plot.hpp"
#include "examples/toy_tasks/training.hpp"

namespace weft::toy_tasks {

// Returns the accuracy on a task's validation examples over the training time.
examples::Line accuracy_line(const Task& task, const TrainingHistory& history);

// Draws accuracy lines. Returns the status message of `examples::draw`.
std::string draw_accuracies(std::vector<examples::Line> lines,
                            const std::filesystem::path& picture);

// Draws the attention weights of each character of the answer over the characters of `question`,
// for each head of the last decoder block. Returns the status message of `examples::draw`. Throws
// ValueError for an invalid question.
std::string draw_attention(const Solver& solver, const std::string& question,
                           const std::filesystem::path& picture);

}  // namespace weft::toy_tasks
