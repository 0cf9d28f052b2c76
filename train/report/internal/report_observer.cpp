#include "train/report/internal/report_observer.hpp"

#include <utility>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

const char* name_of(StopReason end) {
  return end == StopReason::finished        ? "finished"
         : end == StopReason::stopped_early ? "stopped early"
                                            : "interrupted";
}

}  // namespace

void ReportObserver::begin(const TrainingStart& start) {
  description_.columns = metrics_.columns();
  description_.changes = start.changes;
  state_ = {.state = "running",
            .step = start.step,
            .best_step = start.best_step,
            .best_value = start.best_value,
            .skipped_steps = start.skipped_steps};
  report_.emplace(folder_, description_, start.step);
}

void ReportObserver::after_step(const StepReport& report) {
  state_.step = report.step;
  state_.total_steps = report.total_steps;
  state_.skipped_steps += report.is_skipped;
  add_row();
  if (report_->is_due()) write("running");
}

void ReportObserver::after_validation(const ValidationReport& report) {
  state_.best_step = report.best_step;
  state_.best_value = report.best_value;
  add_row();
  if (!fill_examples_) return;
  fill_examples_(examples_.emplace());
  report_->add_examples(report.step, *examples_);
}

void ReportObserver::end(const TrainingResult& result) { write(name_of(result.end)); }

void ReportObserver::fail(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const NonFiniteError&) {
    // WarningObserver adds the message, with advice.
  } catch (const std::exception& exception) {
    add_warning(exception.what());
  } catch (...) {
    // An exception of an unknown type has no message.
  }
  write("failed");
}

void ReportObserver::add_warning(const std::string& warning) {
  if (report_) report_->add_warning(state_.step, warning);
}

void ReportObserver::set_section(const std::string& title, const ReportSection& section) {
  report_->set_section(title, section);
}

void ReportObserver::add_row() {
  if (!metrics_.row().empty()) report_->add_row(state_.step, metrics_.row());
}

void ReportObserver::write(const char* state) {
  if (!report_) return;
  state_.state = state;
  const auto error = report_->write(state_);
  if (error && !std::exchange(has_failed_, true))
    line_.message("warning: the report is out of date: " + *error + "; training continues");
}

}  // namespace weft
