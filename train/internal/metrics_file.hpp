// MetricsFile: writes metrics.csv, one row every few steps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace weft {

// A row of the file.
struct MetricsRow {
  std::int64_t step = 0;
  std::int64_t epoch = 0;
  double loss = 0.0;
  double learning_rate = 0.0;
  double grad_norm = 0.0;
  double tokens_per_second = 0.0;
  // One per validation column; empty without a validation.
  std::vector<double> validation = {};
};

class MetricsFile {
 public:
  // Keeps the rows of an existing file up to step `last_step`, where training resumes. Throws
  // FileError, and leaves the file as it is, when it cannot be read or written or has other columns
  // or lines that are no rows.
  MetricsFile(std::filesystem::path path, const std::vector<std::string>& validation_columns,
              std::int64_t last_step);

  // Throws FileError when the row cannot be written.
  void add(const MetricsRow& row);

 private:
  std::filesystem::path path_;
  std::size_t validation_columns_;
  std::ofstream file_;
};

}  // namespace weft
