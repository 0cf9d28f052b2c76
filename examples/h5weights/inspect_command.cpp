#include <algorithm>
#include <array>
#include <iostream>
#include <optional>

#include <weft/autograd/error.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/files/utf8.hpp>
#include <weft/train/weights/convert_weights.hpp>
#include "examples/common/colours.hpp"
#include "examples/h5weights/commands.hpp"
#include "examples/h5weights/formats.hpp"
#include "examples/h5weights/options.hpp"
#include "examples/h5weights/statistics.hpp"
#include "examples/h5weights/weights_file.hpp"

namespace weft::h5weights {
namespace {

// A line of the tree: a group, or a dataset with its type, shape and statistics.
struct Row {
  std::string name;
  bool is_group = true;
  std::array<std::string, 6> cells = {};
  std::string problem = {};
};

struct Totals {
  std::size_t datasets = 0;
  std::uintmax_t numbers = 0, bytes = 0, non_finite = 0;
};

std::string text_cell(const StoredDataset& dataset) {
  constexpr std::size_t longest = 40;
  const std::string text = dataset.value<std::string>();
  return str_cat('"', printable(text.substr(0, longest)), text.size() > longest ? "…\"" : "\"");
}

void add_numbers(const StoredDataset& dataset, Row& row, Totals& totals) {
  const Statistics statistics = statistics_of(Numbers(dataset));
  totals.numbers += static_cast<std::uintmax_t>(dataset.shape().elements());
  totals.bytes += static_cast<std::uintmax_t>(dataset.shape().elements() *
                                              bytes_of_element(dataset.type()).value());
  if (statistics.finite == 1)
    row.cells[2] = rounded(statistics.mean);
  else if (statistics.finite > 1)
    for (std::size_t i = 0; const double number : {statistics.lowest, statistics.highest,
                                                   statistics.mean, statistics.standard_deviation})
      row.cells[2 + i++] = rounded(number);
  for (const auto& [count, what] :
       {std::pair{statistics.nans, "NaN"}, {statistics.infinities, "infinite"}}) {
    totals.non_finite += static_cast<std::uintmax_t>(count);
    if (count > 0) row.problem += str_cat(row.problem.empty() ? "" : ", ", count, ' ', what);
  }
}

// Fills in the cells that can be read. Returns the error message if reading fails.
std::optional<std::string> add_dataset(const TensorFile& file, const std::string& path, Row& row,
                                       Totals& totals) {
  row.is_group = false;
  ++totals.datasets;
  try {
    const StoredDataset dataset = file.dataset(path);
    const Kind kind = kind_of(row.cells[0] = dataset.type());
    const Shape shape = dataset.shape();
    row.cells[1] = str_cat(shape);
    if (kind == Kind::text && shape.elements() == 1) row.cells[2] = text_cell(dataset);
    if (kind == Kind::wide_integer && shape.elements() == 1)
      row.cells[2] = str_cat(dataset.value<std::int64_t>());
    else if (kind == Kind::floating || kind == Kind::integer)
      add_numbers(dataset, row, totals);
    return std::nullopt;
  } catch (const Error& error) {
    row.problem = "unreadable";
    return error.what();
  }
}

// Appends a row for each group of a path that the previous path is not in.
void add_groups(const std::string& before, const std::string& path, std::vector<Row>& rows) {
  for (std::size_t at = 1, depth = 0; (at = path.find('/', at)) != path.npos; ++at, ++depth)
    if (before.compare(0, at + 1, path, 0, at + 1) != 0) {
      const std::size_t begin = path.rfind('/', at - 1) + 1;
      rows.push_back({std::string(2 * depth, ' ') + printable(path.substr(begin, at + 1 - begin))});
    }
}

std::string padding(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, count_characters(text)), ' ');
}

// Whether a cell is a string, which may extend over the columns after it.
bool is_text(const std::string& cell) { return cell.starts_with('"'); }

void print(const std::vector<Row>& rows, const examples::Colours& colours) {
  std::size_t name_width = 0;
  std::array<std::size_t, 6> widths = {};
  for (const Row& row : rows) {
    name_width = std::max(name_width, count_characters(row.name));
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (!is_text(row.cells[i])) widths[i] = std::max(widths[i], count_characters(row.cells[i]));
  }
  for (const Row& row : rows) {
    std::string line = row.name + padding(row.name, row.is_group ? 0 : name_width);
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string& cell = row.cells[i];
      const bool is_left = i < 2 || is_text(cell);
      line += "  " + (is_left ? cell + padding(cell, widths[i]) : padding(cell, widths[i]) + cell);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::cout << (row.is_group ? colours.bold(line) : line);
    if (!row.problem.empty()) std::cout << "  " << colours.red(row.problem);
    std::cout << '\n';
  }
}

// Returns a line about the whole model of Keras that a file contains, or nothing.
std::string keras_model(const TensorFile& file) {
  const auto* const hdf5 = dynamic_cast<const Hdf5File*>(&file);
  if (!hdf5 || !hdf5->has_attribute("/", "model_config")) return "";
  const std::string version = hdf5->has_attribute("/", "keras_version")
                                  ? hdf5->attribute<std::string>("/", "keras_version")
                                  : "1";
  return str_cat("a whole model of Keras ", printable(version),
                 ", whose layers `keras summary` shows\n");
}

}  // namespace

int inspect(int argc, char** argv) {
  std::vector<std::string> files;
  examples::CommandLine line(
      "h5weights inspect",
      "Lists the datasets of an HDF5 or safetensors file with their types, shapes, minimum, "
      "maximum, mean and standard deviation.");
  if (!parse_files(line, argc, argv, {"FILE"}, files)) return 0;

  const WeightsFile weights(files[0]);
  std::vector<Row> rows{{.name = "",
                         .is_group = false,
                         .cells = {"type", "shape", "lowest", "highest", "mean", "std"}}};
  std::vector<std::string> errors;
  Totals totals;
  std::string before;
  for (const std::string& path : weights.file.datasets()) {
    add_groups(before, path, rows);
    const auto depth = static_cast<std::size_t>(std::ranges::count(path, '/') - 1);
    Row row{std::string(2 * depth, ' ') + printable(path.substr(path.rfind('/') + 1))};
    if (const auto error = add_dataset(weights.file, path, row, totals)) errors.push_back(*error);
    rows.push_back(std::move(row));
    before = path;
  }
  const examples::Colours colours;
  print(rows, colours);
  std::cout << "\nlayout " << weights_layout(weights.file) << '\n'
            << keras_model(weights.file) << counted(totals.datasets, "dataset") << ", "
            << counted(totals.numbers, "number") << " in " << counted(totals.bytes, "byte")
            << "; a file of " << counted(weights.bytes, "byte") << ' '
            << (weights.has_checksum ? colours.green("with a valid checksum")
                                     : std::string("without a checksum"))
            << '\n';
  if (totals.non_finite > 0)
    std::cout << colours.red(counted(totals.non_finite, "number") + " not finite") << '\n';
  std::cout.flush();
  for (const std::string& error : errors) std::cerr << "h5weights inspect: " << error << '\n';
  return errors.empty() ? 0 : 1;
}

}  // namespace weft::h5weights
