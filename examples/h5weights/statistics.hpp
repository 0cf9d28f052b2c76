// Statistics: the range and the distribution of the numbers of a dataset.
#pragma once

#include <optional>

#include "examples/h5weights/numbers.hpp"

namespace weft::h5weights {

// Statistics of the finite values of a tensor; zeros if no value is finite.
struct Statistics {
  Index finite = 0, nans = 0, infinities = 0;
  double lowest = 0.0, highest = 0.0, mean = 0.0;
  // The population standard deviation, like numpy.std: the sum of squares is divided by `finite`.
  double standard_deviation = 0.0;
  // The position of the first NaN or infinity, in row-major order.
  std::optional<Index> first_non_finite = {};
};

// Computes the statistics in one pass. Throws FileError if a number cannot be read.
Statistics statistics_of(const Numbers& numbers);

}  // namespace weft::h5weights
