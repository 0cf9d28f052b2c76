// TextTable: lines of text in aligned columns.
#pragma once

#include <string>
#include <vector>

namespace weft {

class TextTable {
 public:
  enum class Align { left, right };

  // One alignment a column.
  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  // Adds a line of one cell a column; cells that are left out are empty.
  void add(std::vector<std::string> cells);
  // All lines, each ended by a line break, with two spaces between columns as wide as their widest
  // cell.
  std::string text() const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace weft
