// RunReport: the report of a training run, report.html and run.json.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/layers/module.hpp"
#include "weft/train/report/report_section.hpp"
#include "weft/train/weights/state.hpp"

namespace weft {

// Settings: names and values, as strings.
using Settings = std::vector<std::pair<std::string, std::string>>;

// Returns the state of a checkpointed object as settings, without tensors.
template <class T>
Settings settings_of(Stateful<T>& object);

// The columns of metrics.csv between "step" and the validation columns.
inline constexpr std::size_t own_columns = 5;

// The parts of a report that do not change during a run.
struct RunDescription {
  std::string label_unit;            // name of the labels; see `label_unit`
  std::vector<std::string> columns;  // columns of metrics.csv
  Settings configuration = {}, training = {}, data = {}, notes = {};
  std::string model = {};                                 // tree of the model's layers
  std::vector<std::vector<std::string>> parameters = {};  // "name", "shape", "count", "trained"
  int processes = 1;
  std::vector<std::string> changes = {};  // settings that changed when the run resumed
};

template <class T>
void describe_model(const Module<T>& model, RunDescription& description);

// The progress of a run. `state` is "running", "finished", "stopped early", "interrupted" or
// "failed".
struct RunState {
  std::string state;
  std::int64_t step = 0, total_steps = 0;
  std::int64_t best_step = 0;  // 0 without a validation
  double best_value = 0.0;
  std::int64_t skipped_steps = 0;  // see StepReport::is_skipped
};

// Writes the report of a run. run.json contains everything except the curves, which are in
// metrics.csv. From both files, the report can be written again, alone or together with other runs
// (see read_run).
class RunReport {
 public:
  // The version of the format of run.json.
  static constexpr int form = 1;

  // Reads the earlier part of the run in `folder` if the run resumes (first_step > 0). Throws
  // FileError if metrics.csv cannot be read.
  RunReport(std::filesystem::path folder, const RunDescription& description,
            std::int64_t first_step);
  ~RunReport();

  // Adds a row of metrics.csv. Values may be empty, and omitted at the end.
  void add_row(std::int64_t step, const std::vector<std::optional<double>>& values);
  // Adds the examples of a validation. The most recent examples that fit are kept.
  void add_examples(std::int64_t step, const ReportSection& examples);
  void add_warning(std::int64_t step, const std::string& text);
  // Sets a section below the curves, replacing an earlier section with the same title.
  void set_section(const std::string& title, const ReportSection& section);

  // Whether enough time has passed since the report was last written, so that writing takes at most
  // 0.5 % of the time.
  bool is_due() const;
  // Writes both files. Returns an error message if a file cannot be written, for example because
  // the disk is full.
  std::optional<std::string> write(const RunState& state);

 private:
  using Clock = std::chrono::steady_clock;
  struct Contents;

  std::filesystem::path folder_;
  std::unique_ptr<Contents> contents_;
  double seconds_before_ = 0.0;  // duration of the part before the run resumed
  Clock::time_point start_ = Clock::now(), next_ = start_;
};

}  // namespace weft
