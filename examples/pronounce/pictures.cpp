#include "examples/pronounce/pictures.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include <weft/autograd/error.hpp>
#include <weft/train/generation/encoder_decoder_search.hpp>
#include "examples/common/attention_maps.hpp"
#include "examples/common/plot.hpp"
#include "examples/common/text_input.hpp"

namespace weft::pronounce {
namespace {

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
examples::Line read_column(const std::filesystem::path& file, const std::string& name,
                           const std::string& title) {
  const std::string what = "metrics '" + file.string() + "'";
  std::ifstream metrics = examples::open_text(file, what);
  std::string line;
  if (!examples::read_line(metrics, line, what)) fail<FileError>(what, "a header", "an empty file");
  const std::vector<std::string> header = cells_of(line);
  const auto column_index = [&](const std::string& column) {
    const auto found = std::find(header.begin(), header.end(), column);
    if (found == header.end()) fail<FileError>(what, "a column '" + column + "'", "'" + line + "'");
    return static_cast<std::size_t>(found - header.begin());
  };
  const std::size_t step = column_index("step"), value = column_index(name);
  examples::Line curve{title, {}, {}};
  for (int number = 2; examples::read_line(metrics, line, what); ++number) {
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
  const Sequence output = greedy_search(saved.model, words).front().tokens;

  examples::HeatMaps maps;
  maps.title = "Attention of each phone over the letters of “" + word + "”";
  maps.x_label = "letter";
  maps.y_label = "phone";
  maps.columns = saved.language.letters.decode(words.front());
  maps.rows = examples::answer_names(saved.language.phones, output);
  maps.maps_in_row = saved.configuration.heads;
  maps.maps = examples::cross_attention_maps(saved.model, words.front(), output);
  return examples::draw(maps, picture);
}

}  // namespace weft::pronounce
