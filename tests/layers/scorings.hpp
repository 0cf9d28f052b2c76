// All scoring functions, for parameterized tests.
#pragma once

#include <vector>

#include <weft/layers/scoring.hpp>

namespace weft {

inline const std::vector<Scoring> scorings = [] {
  std::vector<Scoring> all;
  for (const auto& [scoring, name] : scoring_names) all.push_back(scoring);
  return all;
}();

}  // namespace weft
