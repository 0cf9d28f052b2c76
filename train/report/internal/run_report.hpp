// RunReport: what a training leaves for people in its folder, report.html and run.json.
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

// Names and values, as text.
using Settings = std::vector<std::pair<std::string, std::string>>;

// Those of an object that checkpoints contain; tensors are left out.
template <class T>
Settings settings_of(Stateful<T>& object);

// The columns of metrics.csv after "step" and before those of validations.
inline constexpr std::size_t own_columns = 5;

// What does not change in a run.
struct RunDescription {
  std::string label_unit;            // what the labels are that are counted; see DataSource
  std::vector<std::string> columns;  // of metrics.csv
  Settings configuration = {}, training = {}, data = {}, notes = {};
  std::string model = {};                                 // the tree of its layers
  std::vector<std::vector<std::string>> parameters = {};  // "name", "shape", "count", "trained"
  int processes = 1;
  std::vector<std::string> changes = {};  // of settings, where a run resumes
};

template <class T>
void describe_model(const Module<T>& model, RunDescription& description);

// How far a run is. `state` is "running", "finished", "stopped early", "interrupted" or "failed".
struct RunState {
  std::string state;
  std::int64_t step = 0, total_steps = 0;
  std::int64_t best_step = 0;  // 0 without a validation
  double best_value = 0.0;
};

// run.json has everything but the curves, which are those of metrics.csv: a report can be made of
// both files again, alone or with those of other runs (see read_run).
class RunReport {
 public:
  // The number of the form of run.json.
  static constexpr int form = 1;

  // With the earlier part of a run that resumes at `first_step` > 0, which `folder` contains.
  // Throws FileError when metrics.csv cannot be read.
  RunReport(std::filesystem::path folder, const RunDescription& description,
            std::int64_t first_step);
  ~RunReport();

  // A row of metrics.csv; values that are left out at the end are empty.
  void add_row(std::int64_t step, const std::vector<double>& values);
  // Of earlier examples, the last ones are kept that fit.
  void add_examples(std::int64_t step, const ReportSection& examples);
  void add_warning(std::int64_t step, const std::string& text);
  // A section below the curves, in place of an earlier one of this title.
  void set_section(const std::string& title, const ReportSection& section);

  // Whether so much time has passed since the report was last written that writing it again takes
  // at most 0.5 % of the time.
  bool is_due() const;
  // Writes both files. Returns what is wrong when one cannot be written, such as a full disk.
  std::optional<std::string> write(const RunState& state);

 private:
  using Clock = std::chrono::steady_clock;
  struct Contents;

  std::filesystem::path folder_;
  std::unique_ptr<Contents> contents_;
  double seconds_before_ = 0.0;  // of the part before it resumed
  Clock::time_point start_ = Clock::now(), next_ = start_;
};

}  // namespace weft
