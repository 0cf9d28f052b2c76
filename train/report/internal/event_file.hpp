// EventFile: writes what TensorBoard shows: scalars, histograms, texts, images and hyperparameters.
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

// A file events.out.tfevents.… of its own: TFRecords (length and data, each with a masked CRC-32C)
// of tensorflow.Event messages. Their few fields are written here: protobuf's library and compiler
// would be as many lines in CMake, and one more package. All functions throw FileError when the
// file cannot be written.
class EventFile {
 public:
  // Creates a file in `folder`. TensorBoard hides values of earlier files from `first_step` on.
  EventFile(const std::filesystem::path& folder, std::int64_t first_step);

  void add_scalar(const std::string& tag, std::int64_t step, double value);
  // Adds a histogram with 30 buckets of equal width, without NaN and infinities.
  template <class T>
  void add_histogram(const std::string& tag, std::int64_t step, std::span<const T> values);
  // Adds examples: text and tables as text, each attention map as an image.
  void add_section(std::int64_t step, const ReportSection& section);
  // Adds settings as the hyperparameters of the run.
  void add_settings(const std::vector<std::pair<std::string, std::string>>& settings);

 private:
  void add_value(std::int64_t step, const std::string& value);
  void add_event(std::string event);

  std::filesystem::path path_;
  std::ofstream file_;
  double time_ = 0.0;  // of the last event; a clock may step back
};

// Returns `data` as a TFRecord.
std::string tf_record(const std::string& data);

}  // namespace weft
