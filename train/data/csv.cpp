#include "weft/train/data/csv.hpp"

#include <csv.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <new>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"
#include "train/files/internal/file_descriptor.hpp"

namespace weft {
namespace {

struct Parsed {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;  // the row being read
  std::exception_ptr error;      // an exception to rethrow after the C library has returned
};

template <class Function>
void guarded(void* data, const Function& function) noexcept {
  auto& parsed = *static_cast<Parsed*>(data);
  if (parsed.error) return;
  try {
    function(parsed);
  } catch (...) {
    parsed.error = std::current_exception();
  }
}

void end_cell(void* text, std::size_t size, void* data) {
  guarded(data,
          [&](Parsed& parsed) { parsed.row.emplace_back(static_cast<const char*>(text), size); });
}
void end_row(int, void* data) {
  guarded(data, [](Parsed& parsed) { parsed.rows.push_back(std::exchange(parsed.row, {})); });
}

std::vector<std::vector<std::string>> rows_of_text(const std::filesystem::path& path,
                                                   std::string_view text, char separator) {
  csv_parser parser;
  if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
  const std::unique_ptr<csv_parser, decltype(&csv_free)> owner(&parser, csv_free);
  csv_set_delim(&parser, static_cast<unsigned char>(separator));
  Parsed parsed;
  const bool complete =
      csv_parse(&parser, text.data(), text.size(), end_cell, end_row, &parsed) == text.size() &&
      csv_fini(&parser, end_cell, end_row, &parsed) == 0;
  if (parsed.error) std::rethrow_exception(parsed.error);
  if (!complete) {
    if (csv_error(&parser) == CSV_ENOMEM) throw std::bad_alloc();
    fail_on_file(path, "pairs of quotes around whole cells",
                 str_cat("a misplaced or unterminated quote in row ", parsed.rows.size() + 1));
  }
  return std::move(parsed.rows);
}

}  // namespace

Table::Table(std::string source, std::vector<std::string> names,
             std::vector<std::vector<std::string>> columns)
    : source_(std::move(source)), names_(std::move(names)), columns_(std::move(columns)) {
  for (auto name = names_.begin(); name != names_.end(); ++name)
    if (name->empty() || std::find(names_.begin(), name, *name) != name)
      fail<ValueError>(source_, "a distinct, nonempty name for each column", "'" + *name + "'");
  if (names_.size() != columns_.size())
    fail<ValueError>(source_, str_cat(names_.size(), " columns"), columns_.size());
  for (const auto& column : columns_)
    if (column.size() != columns_.front().size())
      fail<ValueError>(source_, str_cat(columns_.front().size(), " rows in each column"),
                       column.size());
}

const std::vector<std::string>& Table::texts(const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    std::string all;
    for (const std::string& other : names_) all += (all.empty() ? "'" : ", '") + other + "'";
    fail<ValueError>(source_, "one of the columns " + all, "'" + name + "'");
  }
  return columns_[static_cast<std::size_t>(found - names_.begin())];
}

template <class T>
Tensor<T> Table::numbers(const std::vector<std::string>& names) const {
  const auto count = std::ssize(names);
  auto result = Tensor<T>::uninitialized({size(), count});
  T* values = result.data();
  for (Index column = 0; column < count; ++column) {
    const std::string& name = names[static_cast<std::size_t>(column)];
    const std::vector<std::string>& cells = texts(name);
    for (Index row = 0; row < size(); ++row) {
      const std::string& cell = cells[static_cast<std::size_t>(row)];
      T value{};
      const char* end = cell.data() + cell.size();
      const auto [stop, error] = std::from_chars(cell.data(), end, value);
      if (error != std::errc() || stop != end || !std::isfinite(value))
        fail<ValueError>(str_cat(source_, ": row ", row + 1, ", column '", name, "'"),
                         "a finite number", "'" + cell + "'");
      values[row * count + column] = value;
    }
  }
  return result;
}

template Tensor<float> Table::numbers(const std::vector<std::string>&) const;
template Tensor<double> Table::numbers(const std::vector<std::string>&) const;

Table read_csv(const std::filesystem::path& path, const CsvOptions& options) {
  const std::string text = read_text(path);
  if (text.find('\0') != text.npos) fail_on_file(path, "text without NUL", "a NUL byte");
  const char separator = options.separator.value_or(path.extension() == ".tsv" ? '\t' : ',');
  std::vector<std::vector<std::string>> rows = rows_of_text(path, text, separator);
  if (rows.size() < (options.header ? 2 : 1)) fail_on_file(path, "at least one row", "none");

  const std::size_t width = rows.front().size();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < width; ++i)
    names.push_back(options.header ? std::move(rows.front()[i]) : str_cat(i));
  std::vector<std::vector<std::string>> columns(width);
  for (std::size_t i = options.header ? 1 : 0; i < rows.size(); ++i) {
    if (rows[i].size() != width)
      fail_on_file(path, str_cat(width, " cells in each row"),
                   str_cat(rows[i].size(), " in row ", i + 1));
    for (std::size_t column = 0; column < width; ++column)
      columns[column].push_back(std::move(rows[i][column]));
  }
  return Table(quoted(path), std::move(names), std::move(columns));
}

}  // namespace weft
