// RunRecord: what a training left in its folder; write_comparison: a page of several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "weft/autograd/export.hpp"

namespace weft {

// A run, as read_run reads it.
struct RunRecord {
  std::string name;        // the folder, as it was given
  std::string state = {};  // "running", "finished", "stopped early", "interrupted" or "failed"
  std::int64_t steps = 0;  // updates done
  std::optional<double> seconds = {};  // how long it has run, if it is known
  std::string best_name = {};          // of the first value of validations
  std::int64_t best_step = 0;          // of the best validation; 0 without one
  double best_value = 0.0;             // its first value, the lowest one
  // Of the configuration, the training and the data.
  std::vector<std::pair<std::string, std::string>> settings = {};
  // All of it with the curves, as pages contain it.
  std::string json = {};
};

// Reads metrics.csv and run.json of a folder; without run.json, as older versions left it, the
// settings are not known. Curves of more than `max_points` rows are reduced to their means, lowest
// and highest values. Throws FileError when the folder has no metrics.csv, for a file that cannot
// be read, and for a run.json of a newer version.
WEFT_API RunRecord read_run(const std::filesystem::path& folder, std::size_t max_points = 2048);

// TrainerOptions::notes of the training that a folder has, from its run.json; none without.
WEFT_API std::vector<std::pair<std::string, std::string>> recorded_notes(
    const std::filesystem::path& folder);

// A page of HTML with the settings that differ and the curves of several runs laid over each other;
// of one run, its report. Replaces the file as a whole. Throws FileError when it cannot be written,
// and ValueError without a run.
WEFT_API void write_comparison(const std::filesystem::path& page, std::span<const RunRecord> runs);

}  // namespace weft
