#include "autograd/internal/text_table.hpp"

#include <algorithm>

namespace weft {

void TextTable::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  lines_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& cells : lines_)
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  std::string text;
  for (const auto& cells : lines_) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - cells[i].size(), ' ');
      if (i > 0) text += "  ";
      text += columns_[i] == Align::left ? cells[i] + padding : padding + cells[i];
    }
    text += '\n';
  }
  return text;
}

}  // namespace weft
