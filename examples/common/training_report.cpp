#include "examples/common/training_report.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include <weft/autograd/error.hpp>
#include "examples/common/output_files.hpp"
#include "examples/common/plot.hpp"
#include "examples/common/text_input.hpp"

namespace weft::examples {
namespace {

const char* to_text(TrainingEnd end) {
  switch (end) {
    case TrainingEnd::finished:
      return "finished";
    case TrainingEnd::stopped_early:
      return "stopped early";
    case TrainingEnd::interrupted:
      return "interrupted";
  }
  return "";
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
  return cells;
}

std::optional<double> number_in(const std::string& cell) {
  double number = 0.0;
  const char* const end = cell.data() + cell.size();
  const auto [parsed, error] = std::from_chars(cell.data(), end, number);
  if (error != std::errc{} || parsed != end) return std::nullopt;
  return number;
}

// The non-empty values of column `name` over the column "step".
Line read_column(const std::filesystem::path& file, const std::string& name,
                 const std::string& title) {
  const std::string what = "metrics '" + file.string() + "'";
  std::ifstream metrics = open_text(file, what);
  std::string line;
  if (!read_line(metrics, line, what)) fail<FileError>(what, "a header", "an empty file");
  const std::vector<std::string> header = cells_of(line);
  const auto column_index = [&](const std::string& column) {
    const auto found = std::find(header.begin(), header.end(), column);
    if (found == header.end()) fail<FileError>(what, "a column '" + column + "'", "'" + line + "'");
    return static_cast<std::size_t>(found - header.begin());
  };
  const std::size_t step = column_index("step"), value = column_index(name);
  Line curve{title, {}, {}};
  for (int number = 2; read_line(metrics, line, what); ++number) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() <= std::max(step, value) || cells[value].empty()) continue;
    const auto x = number_in(cells[step]), y = number_in(cells[value]);
    if (!x || !y)
      fail<FileError>(concatenate_text(what, ", line ", number), "numbers", "'" + line + "'");
    curve.x.push_back(*x);
    curve.y.push_back(*y);
  }
  return curve;
}

}  // namespace

void check_outputs(const std::filesystem::path& folder, const std::filesystem::path& input) {
  for (const char* name : {"best.h5", "last.h5", "metrics.csv"})
    check_replaceable(folder / name, {input});
  check_picture(folder / "loss.svg", {input});
}

std::string describe(const TrainingResult& result, const std::filesystem::path& folder) {
  return concatenate_text(to_text(result.end), " after ", result.steps, " steps; weights in ",
                          (folder / (result.best_step > 0 ? "best.h5" : "last.h5")).string());
}

std::string draw_losses(const std::filesystem::path& metrics, const std::filesystem::path& picture,
                        const LossPlot& plot) {
  LineChart chart{plot.title, "step", plot.y_label, {}};
  for (const auto& [column, name] : {std::pair<std::string, std::string>{"loss", plot.training},
                                     {"validation_loss", "validation"}}) {
    Line curve = read_column(metrics, column, name);
    if (!curve.x.empty()) chart.lines.push_back(std::move(curve));
  }
  if (chart.lines.empty()) return "no losses to draw";
  return draw(chart, picture);
}

}  // namespace weft::examples
