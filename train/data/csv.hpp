// Table: the cells of a CSV or TSV file, under the names of its columns.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

// Of read_csv.
struct CsvOptions {
  // Between the cells of a row; when not given, a tab for a file whose name ends in ".tsv" and a
  // comma for any other.
  std::optional<char> separator = {};
  // Whether the first row has the names of the columns, which otherwise are "0", "1", ….
  bool header = true;
};

// The cells of a table, under the names of its columns.
class WEFT_API Table {
 public:
  // Throws ValueError for a name that is empty or repeated, and unless all columns are as long.
  Table(std::string source, std::vector<std::string> names,
        std::vector<std::vector<std::string>> columns);

  // The number of rows.
  Index size() const { return columns_.empty() ? 0 : std::ssize(columns_.front()); }
  const std::vector<std::string>& names() const { return names_; }  // of the columns
  // The cells of a column. Throws ValueError when there is none of that name, listing those there
  // are.
  const std::vector<std::string>& texts(const std::string& name) const;
  // The cells of some columns, all by default, as numbers, [rows, columns]. Throws as `texts` does,
  // and ValueError, naming row and column, for a cell that is not a finite number.
  template <class T = float>
  Tensor<T> numbers(const std::vector<std::string>& names) const;
  template <class T = float>
  Tensor<T> numbers() const {
    return numbers<T>(names_);
  }

 private:
  std::string source_;  // the file, for messages
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> columns_;
};

// Reads a UTF-8 file; cells may be quoted as in RFC 4180, blank lines are skipped, and so is a
// byte-order mark. Throws FileError for a file that cannot be read, is larger than max_text_bytes,
// is not UTF-8, has no rows, has rows of different numbers of cells, a quote that does not end, or
// a NUL, naming the row.
//   const Table table = read_csv("prices.csv");
//   const Tensor<float> x = table.numbers({"open", "close"});  // [rows, 2]
WEFT_API Table read_csv(const std::filesystem::path& path, const CsvOptions& options = {});

}  // namespace weft
