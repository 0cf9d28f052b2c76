// Search: the most probable pronunciations of words.
#pragma once

#include <span>
#include <vector>

#include "examples/pronounce/model.hpp"
#include "train/generation.hpp"

namespace weft::pronounce {

struct SearchOptions {
  Index beam_width = 1;
  // Answers a word, at most beam_width.
  Index n_best = 1;
};

// For each word (its letters) the answers found, best first. Words of like length are searched
// together. Throws ValueError for options that `beam_search` does not take.
std::vector<std::vector<Hypothesis>> search(const Pronouncer<float>& model,
                                            std::span<const Sequence> words,
                                            const SearchOptions& options = {});

}  // namespace weft::pronounce
