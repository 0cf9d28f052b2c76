// Curve: the values of a metric over the steps, in bounded memory. read_curves: reads metrics.csv.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace weft {

// Divides any number of consecutive values into a limited number of buckets, and keeps the mean,
// minimum and maximum of each bucket, so that a spike in one step remains visible.
class Curve {
 public:
  struct Bucket {
    std::int64_t step = 0;    // step of the last value
    std::int64_t values = 0;  // number of values
    std::int64_t finite = 0;
    double sum = 0.0;  // sum of the finite values
    double lowest = std::numeric_limits<double>::infinity();
    double highest = -std::numeric_limits<double>::infinity();
  };

  explicit Curve(std::size_t max_buckets) : max_buckets_(max_buckets) {}

  // Appends a value, which may be NaN or infinite.
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

// Returns a curve for each column of a metrics.csv except "step". Throws FileError if the file
// cannot be read, has no column "step", or has a cell that is neither empty nor a number. A last
// line without a line break is ignored, because it may be incomplete.
std::vector<NamedCurve> read_curves(const std::filesystem::path& metrics,
                                    std::size_t max_buckets = curve_buckets);

}  // namespace weft
