// MetricsFile: writes metrics.csv, one row every few steps:
//   step            updates done
//   epoch           from 1
//   loss            the mean over the labels of the steps since the last row, as they were trained
//                   (with dropout and label smoothing)
//   learning_rate   of the last step
//   grad_norm       of the last step, before clipping
//   tokens_per_s    tokens, or what else the labels are (see label_unit), that were trained on per
//                   second of the updates since the training started or resumed
//   validation_loss, …, training_loss   on rows of validations: its values, in their own units, and
//                   the loss on some training batches, as on the held-out ones without dropout
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
              std::int64_t last_step, const std::string& label_unit = "tokens");

  const std::vector<std::string>& columns() const { return columns_; }

  // Adds a row, with one value per validation column, or none without a validation. Throws
  // FileError when it cannot be written. Returns the row's values.
  std::vector<double> add(const ProgressReport& report, const std::vector<double>& validation);

 private:
  std::filesystem::path path_;
  std::vector<std::string> columns_;
  std::ofstream file_;
};

}  // namespace weft
