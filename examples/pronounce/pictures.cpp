#include "examples/pronounce/pictures.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include <weft/autograd/error.hpp>
#include "examples/common/attention_maps.hpp"
#include "examples/common/plot.hpp"
#include "examples/common/search.hpp"

namespace weft::pronounce {
namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
  return cells;
}

// The non-empty values of column `name` over the column "step".
examples::Line read_column(const std::filesystem::path& file, const std::string& name,
                           const std::string& title) {
  std::ifstream metrics(file);
  std::string line;
  if (!std::getline(metrics, line))
    fail<FileError>("metrics '" + file.string() + "'", "a readable file", std::strerror(errno));
  const std::vector<std::string> header = cells_of(line);
  const auto column_index = [&](const std::string& column) {
    const auto found = std::find(header.begin(), header.end(), column);
    if (found == header.end())
      fail<FileError>("metrics '" + file.string() + "'", "a column '" + column + "'", line);
    return static_cast<std::size_t>(found - header.begin());
  };
  const std::size_t step = column_index("step"), value = column_index(name);
  examples::Line curve{title, {}, {}};
  while (std::getline(metrics, line)) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() <= std::max(step, value) || cells[value].empty()) continue;
    curve.x.push_back(std::stod(cells[step]));
    curve.y.push_back(std::stod(cells[value]));
  }
  return curve;
}

}  // namespace

std::string draw_losses(const std::filesystem::path& metrics,
                        const std::filesystem::path& picture) {
  examples::LineChart chart{
      "Loss of the pronunciation model", "step", "cross entropy per phone", {}};
  for (const auto& [column, title] :
       {std::pair{"loss", "training (with dropout and label smoothing)"},
        std::pair{"validation_loss", "validation"}}) {
    examples::Line curve = read_column(metrics, column, title);
    if (!curve.x.empty()) chart.lines.push_back(std::move(curve));
  }
  if (chart.lines.empty()) return "no losses to draw";
  return examples::draw(chart, picture);
}

std::string draw_attention(const SavedModel& saved, const std::string& word,
                           const std::filesystem::path& picture) {
  const std::vector<Sequence> words{saved.language.encode(word)};
  const Sequence output = search(saved.model, words).front().front().tokens;

  examples::HeatMaps maps;
  maps.title = "Attention of each phone over the letters of “" + word + "”";
  maps.x_label = "letter";
  maps.y_label = "phone";
  maps.columns = saved.language.letters.decode(words.front());
  maps.rows = saved.language.decode(output);
  maps.rows.push_back("end");
  maps.maps_in_row = saved.configuration.heads;
  maps.maps = examples::cross_attention_maps(saved.model, words.front(), output);
  return examples::draw(maps, picture);
}

}  // namespace weft::pronounce
