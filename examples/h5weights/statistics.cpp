#include "examples/h5weights/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace weft::h5weights {
namespace {

// Updates the mean and the sum of squared deviations block by block (Chan, Golub and LeVeque,
// 1979). The result is accurate to rounding even if the mean is far from zero.
class Sums {
 public:
  void add(std::span<const double> block) {
    double sum = 0.0;
    Index count = 0;
    for (const double& number : block) {
      if (!std::isfinite(number)) {
        if (!result_.first_non_finite) result_.first_non_finite = read_ + (&number - block.data());
        ++(std::isnan(number) ? result_.nans : result_.infinities);
        continue;
      }
      ++count;
      sum += number;
      lowest_ = std::min(lowest_, number);
      highest_ = std::max(highest_, number);
    }
    read_ += std::ssize(block);
    if (count > 0) add(block, sum / static_cast<double>(count), count);
  }

  Statistics result() {
    if (result_.finite == 0) return result_;
    result_.lowest = lowest_;
    result_.highest = highest_;
    result_.standard_deviation = std::sqrt(squares_ / static_cast<double>(result_.finite));
    return result_;
  }

 private:
  void add(std::span<const double> block, double mean, Index count) {
    double squares = 0.0;
    for (const double number : block)
      if (std::isfinite(number)) squares += (number - mean) * (number - mean);
    const auto before = static_cast<double>(result_.finite), added = static_cast<double>(count);
    const double difference = mean - result_.mean, share = added / (before + added);
    result_.mean += difference * share;
    squares_ += squares + difference * difference * before * share;
    result_.finite += count;
  }

  Statistics result_;
  double lowest_ = std::numeric_limits<double>::infinity();
  double highest_ = -std::numeric_limits<double>::infinity();
  double squares_ = 0.0;
  Index read_ = 0;
};

}  // namespace

Statistics statistics_of(const Numbers& numbers) {
  Sums sums;
  const Index step = numbers.rows_in_block();
  for (Index first = 0; first < numbers.rows(); first += step) {
    const Tensor<double> block = numbers.read(first, std::min(first + step, numbers.rows()));
    sums.add(block.values());
  }
  return sums.result();
}

}  // namespace weft::h5weights
