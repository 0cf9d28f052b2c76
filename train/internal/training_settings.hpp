// Training settings: the options that determine how a training run updates the model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weft/train/optim/schedule.hpp"
#include "weft/train/trainer.hpp"
#include "train/report/internal/run_report.hpp"

namespace weft {

// Throws ValueError, naming the option, for an option outside its range.
void check_options(const TrainerOptions& options);
// Throws ValueError for negative counts, no columns, or an empty function.
void check_validation(const Validation& validation);

std::string description_of(const std::optional<Schedule>& schedule);

// Returns a line with the columns and the options of a validation; "none" if not set.
std::string description_of(const std::optional<Validation>& validation);

// Returns the settings of a training run, including the optimizer's description.
Settings training_settings(const TrainerOptions& options, const std::string& optimizer);

// Returns a line "name: value" for each setting except `epochs` and `max_steps`, which may change
// when a run resumes.
std::string lines_of(const Settings& settings);

// Compares two results of `lines_of`. Returns "the NAME was 'A' and is now 'B'" for each setting
// of both that differs.
std::vector<std::string> changes_between(const std::string& earlier, const std::string& now);

}  // namespace weft
