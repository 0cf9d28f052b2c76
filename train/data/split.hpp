// split_examples: divides examples at random into a training set and a held-out set.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/autograd/random.hpp"

namespace weft {

// Shuffles the examples and splits them: the first part contains `fraction` of them, rounded to a
// whole number, and the second part the rest. The same seed always returns the same parts. Throws
// ValueError unless 0 ≤ fraction ≤ 1.
//   const auto [training, held_out] = split_examples(sequences, 0.9, 7);
template <class Example>
std::pair<std::vector<Example>, std::vector<Example>> split_examples(std::vector<Example> examples,
                                                                     double fraction,
                                                                     std::uint64_t seed) {
  if (!(fraction >= 0.0 && fraction <= 1.0))
    fail<ValueError>("split: fraction", "0 ≤ fraction ≤ 1", fraction);
  Random(seed).shuffle(examples);
  const auto first =
      examples.begin() + std::lround(fraction * static_cast<double>(examples.size()));
  std::vector<Example> others(std::make_move_iterator(first),
                              std::make_move_iterator(examples.end()));
  examples.erase(first, examples.end());
  return {std::move(examples), std::move(others)};
}

}  // namespace weft
