#include "train/internal/training_settings.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "weft/autograd/error.hpp"
#include "weft/train/parallel/parallel_pass.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {
namespace {

std::map<std::string, std::string> settings_in(std::string_view lines) {
  std::map<std::string, std::string> settings;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    const std::size_t colon = std::min(line.find(": "), line.size());
    settings.emplace(line.substr(0, colon), line.substr(std::min(colon + 2, line.size())));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return settings;
}

}  // namespace

void check_options(const TrainerOptions& options) {
  check_at_least("trainer: epochs", options.epochs, std::int64_t{0});
  check_at_least("trainer: max_steps", options.max_steps, std::int64_t{0});
  check_at_least("trainer: gradient_accumulation_steps", options.gradient_accumulation_steps,
                 Index{1});
  constexpr Index most_parts = ParallelPass<float>::most_parts;
  if (options.parts < 0 || options.parts > most_parts)
    fail<ValueError>("trainer: parts", str_cat("a value from 0 to ", most_parts), options.parts);
  check_at_least("trainer: save_every_steps", options.save_every_steps, std::int64_t{0});
  check_at_least("trainer: save_every_seconds", options.save_every_seconds, 0.0);
  check_at_least("trainer: keep_checkpoints", options.keep_checkpoints, std::int64_t{0});
  check_at_least("trainer: log_every_steps", options.log_every_steps, std::int64_t{1});
  check_positive("trainer: clip_norm", options.clip_norm);
  check_at_least("trainer: max_consecutive_skips", options.max_consecutive_skips, std::int64_t{0});
  if (options.tensorboard && options.folder.empty())
    fail<ValueError>("trainer: tensorboard", "a folder for the event files", "an empty path");
  if (options.update_statistics && options.folder.empty())
    fail<ValueError>("trainer: update_statistics", "a folder for metrics.csv", "an empty path");
  if (options.resume && options.folder.empty())
    fail<ValueError>("trainer: resume", "a folder to resume from", "an empty path");
  if (!options.plateau) return;
  const auto& [factor, patience, threshold, min_delta, cooldown, min_lr] = *options.plateau;
  if (!(factor >= 0.0 && factor < 1.0))
    fail<ValueError>("trainer: plateau.factor", "0 ≤ factor < 1", factor);
  check_at_least("trainer: plateau.patience", patience, std::int64_t{0});
  if (!(threshold >= 0.0 && threshold < 1.0))
    fail<ValueError>("trainer: plateau.threshold", "0 ≤ threshold < 1", threshold);
  check_finite_non_negative("trainer: plateau.min_delta", min_delta);
  check_at_least("trainer: plateau.cooldown", cooldown, std::int64_t{0});
  check_finite_non_negative("trainer: plateau.min_lr", min_lr);
}

void check_validation(const Validation& validation) {
  check_at_least("trainer: validation.every_steps", validation.every_steps, std::int64_t{0});
  check_at_least("trainer: validation.patience", validation.patience, std::int64_t{0});
  if (validation.columns.empty())
    fail<ValueError>("trainer: validation.columns", "at least one", "none");
  check_function("trainer: validation.run", validation.run);
}

std::string description_of(const std::optional<Schedule>& schedule) {
  return schedule ? schedule->description() : "the optimizer's learning rate";
}

std::string description_of(const std::optional<Validation>& validation) {
  if (!validation) return "none";
  const auto& [columns, run, every_steps, patience, restores] = *validation;
  std::string text;
  for (const std::string& column : columns) text += column + ", ";
  text += every_steps > 0 ? str_cat("every ", every_steps, " steps") : "every epoch";
  if (patience > 0) text += str_cat(", patience ", patience);
  return text + (restores ? ", restores the best weights" : "");
}

Settings training_settings(const TrainerOptions& o, const std::string& optimizer) {
  const auto& plateau = o.plateau;
  return {
      {"optimizer", optimizer},
      {"schedule", description_of(o.schedule)},
      {"seed", str_cat(o.seed)},
      {"epochs", str_cat(o.epochs)},
      {"max_steps", o.max_steps > 0 ? str_cat(o.max_steps) : "no limit"},
      {"accumulation", str_cat(o.gradient_accumulation_steps)},
      {"parts", o.parts == 0 ? "chosen by sizes" : str_cat(o.parts)},
      {"clip_norm", str_cat(o.clip_norm)},
      {"precision", name_of("precision", o.precision, precision_names)},
      {"plateau", plateau ? str_cat("× ", plateau->factor, " after more than ", plateau->patience,
                                    " validations, threshold ", plateau->threshold, ", min_delta ",
                                    plateau->min_delta, ", cooldown ", plateau->cooldown,
                                    ", min_lr ", plateau->min_lr)
                          : "none"},
      {"max_consecutive_skips", str_cat(o.max_consecutive_skips)}};
}

std::string lines_of(const Settings& settings) {
  std::string lines;
  for (const auto& [name, value] : settings)
    if (name != "epochs" && name != "max_steps")
      lines += str_cat(name, ": ", printable(value), '\n');
  return lines;
}

std::vector<std::string> changes_between(const std::string& earlier, const std::string& now) {
  const std::map<std::string, std::string> before = settings_in(earlier);
  std::vector<std::string> changes;
  for (const auto& [name, value] : settings_in(now))
    if (const auto old = before.find(name); old != before.end() && old->second != value)
      changes.push_back(str_cat("the ", name, " was '", old->second, "' and is now '", value, "'"));
  return changes;
}

}  // namespace weft
