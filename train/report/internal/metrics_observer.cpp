#include "train/report/internal/metrics_observer.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>
#include <string_view>

#include "weft/autograd/error.hpp"
#include "train/files/internal/atomic_file.hpp"
#include "train/files/internal/file_descriptor.hpp"
#include "train/files/internal/random_access_file.hpp"

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

std::string line_of(const std::vector<std::string>& fields) {
  std::string line = fields.front();
  for (std::size_t i = 1; i < fields.size(); ++i) line += "," + fields[i];
  return line;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line)
    if (c == ',')
      fields.emplace_back();
    else
      fields.back() += c;
  return fields;
}

// Returns the header and the complete rows up to `last_step`. Columns that only the file has are
// added to `columns`, before the last `num_further`.
std::string kept_text(const std::filesystem::path& path, std::vector<std::string>& columns,
                      std::int64_t last_step, std::ptrdiff_t num_further) {
  std::string text = line_of(columns) + "\n";
  // Throws if the file cannot be read, so that it is not replaced.
  const std::string contents = file_contents(path).value_or("");
  if (last_step == 0 || contents.empty()) return text;
  std::string_view rest = contents;
  std::vector<std::string> found;  // the columns of the file
  // A last line without a line break is an incomplete row.
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    const std::string line(rest.substr(0, end));
    if (number == 1) {
      found = fields_of(line);
      constexpr std::size_t own = 5;  // the columns that do not depend on the training
      if (found.size() < own || !std::equal(found.begin(), found.begin() + own, columns.begin()))
        fail_on_file(path, "the columns " + line_of(columns), line);
      for (const std::string& column : found)
        if (std::ranges::find(columns, column) == columns.end())
          columns.insert(columns.end() - num_further, column);
      text = line_of(columns) + "\n";
    }
    if (end == rest.npos) break;
    rest.remove_prefix(end + 1);
    if (number == 1) continue;
    std::int64_t step = 0;
    const auto [stop, failed] = std::from_chars(line.data(), line.data() + line.size(), step);
    if (failed != std::errc{} || *stop != ',')
      fail<FileError>(str_cat(path, ", line ", number), "a row that starts with a step number",
                      "'" + line + "'");
    if (step > last_step) break;
    if (found == columns) {
      text += line + "\n";
      continue;
    }
    std::vector<std::string> fields = fields_of(line), row;
    fields.resize(found.size());
    for (const std::string& column : columns) {
      const auto at = std::ranges::find(found, column) - found.begin();
      row.push_back(at == std::ssize(found) ? "" : fields[static_cast<std::size_t>(at)]);
    }
    text += line_of(row) + "\n";
  }
  return text;
}

}  // namespace

void MetricsObserver::begin(const TrainingStart& start) {
  columns_ = columns_of(start.columns, start.label_unit);
  for (const MetricsColumn& column : further_) columns_.push_back(column.name);
  const std::string text = kept_text(path_, columns_, start.step, std::ssize(further_));
  write_atomically(path_, std::as_bytes(std::span(text)));
  file_.open(path_, std::ios::binary | std::ios::app);
  if (!file_) fail_with_errno(path_, "write");
}

void MetricsObserver::after_step(const StepReport& report) {
  last_ = report;
  row_.clear();
  for (std::size_t i = 0; i < further_.size(); ++i)
    if (const auto value = further_[i].value()) measured_[i] = value;
  if (!report.is_validated && (report.ends_epoch || report.step % every_steps_ == 0)) add_row({});
}

void MetricsObserver::after_validation(const ValidationReport& report) { add_row(report.values); }

void MetricsObserver::add_row(const std::vector<double>& validation) {
  row_ = {take_mean_loss_(last_.loss), last_.learning_rate, last_.grad_norm,
          last_.labels_per_second};
  row_.insert(row_.end(), validation.begin(), validation.end());
  if (!further_.empty()) {
    row_.resize(columns_.size() - 2 - further_.size());
    row_.insert(row_.end(), measured_.begin(), measured_.end());
    measured_.assign(further_.size(), std::nullopt);
  }
  TextStream text;
  text.precision(std::numeric_limits<float>::max_digits10);
  text << last_.step << ',' << last_.epoch;
  for (const std::optional<double> value : row_) {
    text << ',';
    if (value) text << *value;
  }
  text << std::string(columns_.size() - 2 - row_.size(), ',');
  file_ << text.str() << '\n' << std::flush;
  if (!file_) fail_with_errno(path_, "append a row to");
  row_.insert(row_.begin(), static_cast<double>(last_.epoch));
}

}  // namespace weft
