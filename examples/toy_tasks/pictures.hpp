// Pictures of what the models of the tasks learned, and how fast.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "examples/common/plot.hpp"
#include "examples/toy_tasks/learning.hpp"

namespace weft::toy_tasks {

// How often a task's validation examples were answered right over the time of its training.
examples::Line accuracy_line(const Task& task, const Learning& learning);

// Draws these lines. Returns what `examples::draw` says.
std::string draw_accuracies(std::vector<examples::Line> lines,
                            const std::filesystem::path& picture);

// Draws which letter of `question` each letter of the answer attends to, in each head of the
// decoder's last block. Returns what `examples::draw` says. Throws ValueError for what is not a
// question.
std::string draw_attention(const Solver& solver, const std::string& question,
                           const std::filesystem::path& picture);

}  // namespace weft::toy_tasks
