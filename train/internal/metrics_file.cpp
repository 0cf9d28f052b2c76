#include "train/internal/metrics_file.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>

#include "weft/autograd/error.hpp"
#include "train/files/internal/atomic_file.hpp"
#include "train/files/internal/file_descriptor.hpp"
#include "train/files/internal/open_file.hpp"

namespace weft {
namespace {

std::vector<std::string> columns_of(const std::vector<std::string>& validation_columns,
                                    const std::string& label_unit) {
  std::vector<std::string> columns{"step",          "epoch",     "loss",
                                   "learning_rate", "grad_norm", label_unit + "_per_s"};
  for (const std::string& column : validation_columns) {
    if (column.empty() || column.find_first_of(",\"\n") != std::string::npos)
      fail<ValueError>("validation column", "a name without commas, quotes and line breaks",
                       "'" + column + "'");
    columns.push_back(column);
  }
  return columns;
}

std::string header_of(const std::vector<std::string>& columns) {
  std::string header = columns.front();
  for (std::size_t i = 1; i < columns.size(); ++i) header += "," + columns[i];
  return header;
}

// The header and the complete rows up to `last_step`.
std::string kept_text(const std::filesystem::path& path, const std::string& header,
                      std::int64_t last_step) {
  std::string text = header + "\n";
  // A file that cannot be read is not replaced.
  const std::string contents = file_contents(path).value_or("");
  if (last_step == 0 || contents.empty()) return text;
  std::string_view rest = contents;
  // A last line without line break is a row that was not finished.
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    const std::string line(rest.substr(0, end));
    if (number == 1 && line != header) fail_on_file(path, "the columns " + header, line);
    if (end == rest.npos) break;
    rest.remove_prefix(end + 1);
    if (number == 1) continue;
    std::int64_t step = 0;
    const auto [stop, failed] = std::from_chars(line.data(), line.data() + line.size(), step);
    if (failed != std::errc{} || *stop != ',')
      fail<FileError>(concatenate_text(path, ", line ", number), "a row that begins with a step",
                      "'" + line + "'");
    if (step > last_step) break;
    text += line + "\n";
  }
  return text;
}

}  // namespace

MetricsFile::MetricsFile(std::filesystem::path path,
                         const std::vector<std::string>& validation_columns, std::int64_t last_step,
                         const std::string& label_unit)
    : path_(std::move(path)), columns_(columns_of(validation_columns, label_unit)) {
  const std::string text = kept_text(path_, header_of(columns_), last_step);
  write_atomically(path_, std::as_bytes(std::span(text)));
  file_.open(path_, std::ios::binary | std::ios::app);
  if (!file_) fail<FileError>(path_.string(), "a file that can be written", std::strerror(errno));
}

std::vector<double> MetricsFile::add(const ProgressReport& report,
                                     const std::vector<double>& validation) {
  std::vector<double> values{report.loss, report.learning_rate, report.grad_norm,
                             report.labels_per_second};
  values.insert(values.end(), validation.begin(), validation.end());
  TextStream text;
  text.precision(std::numeric_limits<float>::max_digits10);
  text << report.step << ',' << report.epoch;
  for (const double value : values) text << ',' << value;
  text << std::string(columns_.size() - 2 - values.size(), ',');
  file_ << text.str() << '\n' << std::flush;
  if (!file_) fail<FileError>(path_.string(), "disk space for another row", std::strerror(errno));
  values.insert(values.begin(), static_cast<double>(report.epoch));
  return values;
}

}  // namespace weft
