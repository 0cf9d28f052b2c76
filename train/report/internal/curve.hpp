// Curve: a column of metrics over the steps, in bounded memory; read_curves: those of metrics.csv.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace weft {

// Any number of values in at most so many buckets of consecutive ones, of each of which the mean,
// the lowest and the highest are kept: a spike of one step stays in sight.
class Curve {
 public:
  struct Bucket {
    std::int64_t step = 0;    // of its last value
    std::int64_t values = 0;  // all of them
    std::int64_t finite = 0;
    double sum = 0.0;  // of the finite ones
    double lowest = std::numeric_limits<double>::infinity();
    double highest = -std::numeric_limits<double>::infinity();
  };

  explicit Curve(std::size_t max_buckets) : max_buckets_(max_buckets) {}

  // A value after all others; it may be NaN or infinite.
  void add(std::int64_t step, double value);
  const std::vector<Bucket>& buckets() const { return buckets_; }

 private:
  std::size_t max_buckets_;  // ≥ 2
  std::int64_t values_per_bucket_ = 1;
  std::vector<Bucket> buckets_;
};

struct NamedCurve {
  std::string name;
  Curve curve;
};

inline constexpr std::size_t curve_buckets = 2048;

// A curve for each column of a metrics.csv but "step". Throws FileError when the file cannot be
// read, has no column "step", or has a cell that is neither empty nor a number. A last line without
// line break is not read: it may be being written.
std::vector<NamedCurve> read_curves(const std::filesystem::path& metrics,
                                    std::size_t max_buckets = curve_buckets);

}  // namespace weft
