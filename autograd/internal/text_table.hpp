// TextTable: lines of text in aligned columns.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace weft {

class TextTable {
 public:
  enum class Align { left, right };

  // Creates an empty table with one alignment per column.
  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  // Adds a line with one cell per column; missing cells are empty.
  void add(std::vector<std::string> cells) {
    cells.resize(columns_.size());
    lines_.push_back(std::move(cells));
  }
  // Returns all lines, each ended by a line break. Columns are as wide as their widest cell, with
  // two spaces between them.
  std::string text() const {
    std::vector<std::size_t> widths(columns_.size());
    for (const auto& cells : lines_)
      for (std::size_t i = 0; i < cells.size(); ++i)
        widths[i] = std::max(widths[i], cells[i].size());
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

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace weft
