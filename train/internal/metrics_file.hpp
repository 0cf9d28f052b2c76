// MetricsFile: writes metrics.csv, one row every few steps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "weft/train/progress_line.hpp"

namespace weft {

class MetricsFile {
 public:
  // Keeps the rows of an existing file up to step `last_step`, where training resumes. Throws
  // FileError, and leaves the file as it is, when it cannot be read or written or has other columns
  // or lines that are no rows.
  MetricsFile(std::filesystem::path path, const std::vector<std::string>& validation_columns,
              std::int64_t last_step);

  // Adds a row, with one value per validation column, or none without a validation. Throws
  // FileError when it cannot be written.
  void add(const ProgressReport& report, const std::vector<double>& validation);

 private:
  std::filesystem::path path_;
  std::size_t validation_columns_;
  std::ofstream file_;
};

}  // namespace weft
