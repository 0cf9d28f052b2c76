// EventFile: writes a TensorBoard event file with scalars, histograms, text, images and
// hyperparameters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "weft/autograd/tensor.hpp"
#include "weft/train/report/report_section.hpp"

namespace weft {

// Writes a new file events.out.tfevents.…, which consists of TFRecords (length and data, each with
// a masked CRC-32C) of tensorflow.Event messages. The messages are encoded here, because only a few
// of their fields are needed; protobuf would be another dependency. All functions throw FileError
// if the file cannot be written.
class EventFile {
 public:
  // Creates a file in `folder`. TensorBoard then hides values in older files from `first_step` on.
  EventFile(const std::filesystem::path& folder, std::int64_t first_step);

  void add_scalar(const std::string& tag, std::int64_t step, double value);
  // Adds a histogram with 30 buckets of equal width. NaN and infinities are omitted.
  template <class T>
  void add_histogram(const std::string& tag, std::int64_t step, std::span<const T> values);
  // Adds the examples of a section: text and tables as text, and each attention map as an image.
  void add_section(std::int64_t step, const ReportSection& section);
  // Adds settings as the hyperparameters of the run.
  void add_settings(const std::vector<std::pair<std::string, std::string>>& settings);

 private:
  void add_value(std::int64_t step, const std::string& value);
  void add_event(std::string event);

  std::filesystem::path path_;
  std::ofstream file_;
  double time_ = 0.0;  // time of the last event; later events never have an earlier time
};

// Returns `data` as a TFRecord.
std::string tf_record(const std::string& data);

}  // namespace weft
