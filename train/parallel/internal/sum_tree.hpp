// sum_tree: the order in which the gradients of the parts of a batch are added.
#pragma once

#include <vector>

#include "weft/autograd/shape.hpp"

namespace weft {

// Consecutive parts of a batch.
struct PartRange {
  Index first = 0;
  Index last = 0;  // excluded

  Index size() const { return last - first; }
  bool contains(const PartRange& other) const { return first <= other.first && other.last <= last; }
};

// The sum of `all` is that of the parts before `middle` plus that of the others.
struct Addition {
  PartRange all;
  Index middle = 0;
};

// The additions of a balanced binary tree, operands first. Which of them a process makes does not
// matter for the sum.
std::vector<Addition> sum_tree(Index parts);

// The parts that process `rank` of `size` computes: for a power of two, those of one addition.
PartRange parts_of_process(Index parts, int rank, int size);

}  // namespace weft
