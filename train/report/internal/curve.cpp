#include "train/report/internal/curve.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "weft/autograd/error.hpp"
#include "train/files/internal/random_access_file.hpp"

namespace weft {
namespace {

void merge(Curve::Bucket& bucket, const Curve::Bucket& next) {
  bucket.step = next.step;
  bucket.values += next.values;
  bucket.finite += next.finite;
  bucket.sum += next.sum;
  bucket.lowest = std::min(bucket.lowest, next.lowest);
  bucket.highest = std::max(bucket.highest, next.highest);
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    cells.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return cells;
}

std::optional<double> number_in(std::string_view cell) {
  double number = 0.0;
  const char* const end = cell.data() + cell.size();
  const auto [parsed, error] = std::from_chars(cell.data(), end, number);
  if (error != std::errc{} || parsed != end) return std::nullopt;
  return number;
}

}  // namespace

void Curve::add(std::int64_t step, double value) {
  Bucket one{.step = step, .values = 1};
  if (std::isfinite(value)) one = {step, 1, 1, value, value, value};
  if (!buckets_.empty() && buckets_.back().values < values_per_bucket_)
    return merge(buckets_.back(), one);
  if (buckets_.size() == max_buckets_) {
    for (std::size_t i = 0; 2 * i < buckets_.size(); ++i) {
      Bucket pair = buckets_[2 * i];
      if (2 * i + 1 < buckets_.size()) merge(pair, buckets_[2 * i + 1]);
      buckets_[i] = pair;
    }
    buckets_.resize((buckets_.size() + 1) / 2);
    values_per_bucket_ *= 2;
    return add(step, value);
  }
  buckets_.push_back(one);
}

std::vector<NamedCurve> read_curves(const std::filesystem::path& metrics, std::size_t max_buckets) {
  const auto text = file_contents(metrics);
  if (!text) fail_on_file(metrics, "the metrics of a training run", "no such file");
  std::string_view rest = *text;
  const auto next_line = [&rest]() -> std::optional<std::string_view> {
    const std::size_t end = rest.find('\n');
    if (end == rest.npos) return std::nullopt;
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return line;
  };
  const std::string_view header = next_line().value_or("");
  std::vector<NamedCurve> curves;
  for (const std::string_view name : cells_of(header))
    curves.push_back({std::string(name), Curve(max_buckets)});
  if (curves.front().name != "step")
    fail_on_file(metrics, "the first column 'step'", "'" + std::string(header.substr(0, 80)) + "'");
  std::int64_t number = 1;
  while (const auto line = next_line()) {
    const std::vector<std::string_view> cells = cells_of(*line);
    const auto step = number_in(cells.front());
    bool is_row = step && *step >= 0.0 && *step < 1e18 && cells.size() == curves.size();
    for (std::size_t i = 1; is_row && i < cells.size(); ++i) {
      if (cells[i].empty()) continue;
      const auto value = number_in(cells[i]);
      is_row = value.has_value();
      if (is_row) curves[i].curve.add(static_cast<std::int64_t>(*step), *value);
    }
    ++number;
    if (!is_row)
      fail<FileError>(str_cat(metrics, ", line ", number),
                      str_cat("a row of ", curves.size(), " numbers"),
                      str_cat("'", line->substr(0, 80), "'"));
  }
  curves.erase(curves.begin());
  return curves;
}

}  // namespace weft
