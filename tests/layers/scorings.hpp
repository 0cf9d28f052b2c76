// All scoring functions, for parameterized tests.
#pragma once

#include <vector>

#include <weft/layers/scoring.hpp>

namespace weft {

inline const std::vector<Scoring> scorings = {Scoring::scaled_dot_product, Scoring::dot_product,
                                              Scoring::gaussian, Scoring::cosine,
                                              Scoring::additive};

}  // namespace weft
