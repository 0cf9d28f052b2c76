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

// An addition: the sum of `all` is the sum of the parts before `middle` plus the sum of the rest.
struct Addition {
  PartRange all;
  Index middle = 0;
};

// Returns the additions of a balanced binary tree, operands first. The sum does not depend on which
// process makes which addition.
std::vector<Addition> sum_tree(Index parts);

// Returns the parts that process `rank` of `size` computes. If `size` is a power of two, they are
// the operands of a single addition.
PartRange parts_of_process(Index parts, int rank, int size);

}  // namespace weft
