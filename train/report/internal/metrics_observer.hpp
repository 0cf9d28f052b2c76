// MetricsObserver: writes metrics.csv, one row every few steps:
//   step            updates done
//   epoch           from 1
//   loss            mean over the labels of the steps since the last row, as trained on (with
//                   dropout and label smoothing)
//   learning_rate   of the last step
//   grad_norm       of the last step, before clipping
//   tokens_per_s    tokens, or what else the labels are (see label_unit), per second of the updates
//                   since the training started or resumed
//   validation_loss, …, training_loss   in rows of validations: the validation values in their own
//                   units, and the loss on some training batches, computed without dropout
//   update_ratio, noise_scale   optional; the last values measured since the previous row
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "weft/train/training_observer.hpp"

namespace weft {

// A column with a function that is called after each step, and returns its value if the step was
// measured.
struct MetricsColumn {
  std::string name;
  std::function<std::optional<double>()> value;
};

// `begin` throws FileError, and leaves the file unchanged, if the file cannot be read or written,
// or is not a metrics.csv. The other functions throw FileError if a row
// cannot be written.
class MetricsObserver final : public TrainingObserver {
 public:
  // Writes a row every `every_steps` steps, at the end of each epoch, and for each validation.
  // `take_mean_loss` returns the mean loss since its last call, or its argument if there were no
  // labels. The columns `further` follow all others.
  MetricsObserver(std::filesystem::path path, std::int64_t every_steps,
                  std::function<double(double)> take_mean_loss,
                  std::vector<MetricsColumn> further = {})
      : path_(std::move(path)),
        every_steps_(every_steps),
        take_mean_loss_(std::move(take_mean_loss)),
        further_(std::move(further)),
        measured_(further_.size()) {}

  // Keeps the rows of an existing file up to the step where training resumes. Columns that only
  // the file has follow the validation columns.
  void begin(const TrainingStart& start) override;
  void after_step(const StepReport& report) override;
  void after_validation(const ValidationReport& report) override;

  const std::vector<std::string>& columns() const { return columns_; }
  // Returns the values of the row that the last call wrote, without the step; empty if it wrote
  // none. Values that were not measured are empty.
  const std::vector<std::optional<double>>& row() const { return row_; }

 private:
  void add_row(const std::vector<double>& validation);

  std::filesystem::path path_;
  std::int64_t every_steps_;
  std::function<double(double)> take_mean_loss_;
  std::vector<std::string> columns_;
  std::vector<MetricsColumn> further_;
  std::vector<std::optional<double>> measured_;  // values of `further_` since the last row
  std::vector<std::optional<double>> row_;
  StepReport last_;
  std::ofstream file_;
};

}  // namespace weft
