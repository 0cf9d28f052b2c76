// RunRecord: the results of a training run, read from its folder. write_comparison: compares runs
// on an HTML page.
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

// A training run, read by read_run.
struct RunRecord {
  std::string name;        // the folder, as passed to read_run
  std::string state = {};  // "running", "finished", "stopped early", "interrupted" or "failed"
  std::int64_t steps = 0;  // updates done
  std::optional<double> seconds = {};  // duration, if known
  std::string best_name = {};          // name of the first validation value
  std::int64_t best_step = 0;          // step of the best validation; 0 if there was none
  double best_value = 0.0;             // first value of the best validation, the lowest
  // Names and values of the settings of the configuration, the training and the data.
  std::vector<std::pair<std::string, std::string>> settings = {};
  // The whole record with its curves as JSON, as embedded in HTML pages.
  std::string json = {};
};

// Reads metrics.csv and run.json in a folder. Folders of older versions have no run.json, and no
// settings. Curves with more than `max_points` rows are reduced to means, minima and maxima. Throws
// FileError if the folder contains no metrics.csv, if a file cannot be read, and if run.json is of
// a newer version.
WEFT_API RunRecord read_run(const std::filesystem::path& folder, std::size_t max_points = 2048);

// Returns the TrainerOptions::notes of a training run, from run.json in its folder. Returns an
// empty list if there is no run.json.
WEFT_API std::vector<std::pair<std::string, std::string>> recorded_notes(
    const std::filesystem::path& folder);

// Writes an HTML page that compares runs: the settings that differ, and all curves in the same
// charts. For a single run, the page is its report. The file is replaced atomically. Throws
// FileError if it cannot be written, and ValueError if `runs` is empty.
WEFT_API void write_comparison(const std::filesystem::path& page, std::span<const RunRecord> runs);

}  // namespace weft
