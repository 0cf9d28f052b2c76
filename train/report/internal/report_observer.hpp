// ReportObserver: writes report.html and run.json while a model is trained.
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "weft/train/report/progress_line.hpp"
#include "weft/train/report/report_section.hpp"
#include "weft/train/training_observer.hpp"
#include "train/report/internal/metrics_observer.hpp"
#include "train/report/internal/run_report.hpp"

namespace weft {

// Writes the report of a training run. If a file cannot be written, prints a message once on
// `line`; training continues. `line` and `metrics` must outlive the object.
class ReportObserver final : public TrainingObserver {
 public:
  // The report shows the rows of `metrics`, which must be called before this observer.
  ReportObserver(std::filesystem::path folder, const MetricsObserver& metrics, ProgressLine& line)
      : folder_(std::move(folder)), metrics_(metrics), line_(line) {}

  // Sets the description of the run. `begin` replaces its columns and changes.
  void describe(RunDescription description) { description_ = std::move(description); }
  // Sets the function that fills a section after each validation; may be empty.
  void show_examples(std::function<void(ReportSection&)> examples) {
    fill_examples_ = std::move(examples);
  }
  // Returns the section of the last validation; null without `show_examples`.
  const ReportSection* examples() const { return examples_ ? &*examples_ : nullptr; }

  void begin(const TrainingStart& start) override;
  void after_step(const StepReport& report) override;
  void after_validation(const ValidationReport& report) override;
  void end(const TrainingResult& result) override;
  void fail(const std::exception_ptr& error) override;

  // Adds a warning for the current step.
  void add_warning(const std::string& warning);
  // Adds a section, replacing an earlier section with the same title.
  void set_section(const std::string& title, const ReportSection& section);

 private:
  void add_row();
  void write(const char* state);

  std::filesystem::path folder_;
  const MetricsObserver& metrics_;
  ProgressLine& line_;
  RunDescription description_;
  std::function<void(ReportSection&)> fill_examples_;
  std::optional<ReportSection> examples_;
  std::optional<RunReport> report_;  // after `begin`
  RunState state_;
  bool has_failed_ = false;
};

}  // namespace weft
