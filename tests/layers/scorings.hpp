// All scoring functions, for tests of what holds for each.
#pragma once

#include <vector>

#include <weft/layers/scoring.hpp>

namespace weft {

inline const std::vector<Scoring> scorings = {Scoring::scaled_dot_product, Scoring::dot_product,
                                              Scoring::gaussian, Scoring::cosine,
                                              Scoring::additive};

}  // namespace weft
