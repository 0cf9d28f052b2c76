// Table: the cells of a CSV or TSV file, by column name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

// Options of read_csv.
struct CsvOptions {
  // The character between the cells of a row. If not set, it is a tab if the file name ends in
  // ".tsv", and a comma otherwise.
  std::optional<char> separator = {};
  // Whether the first row contains the column names. If not, the names are "0", "1", ….
  bool header = true;
};

// A table of text cells with named columns.
class WEFT_API Table {
 public:
  // Takes the names and cells of the columns. Error messages start with `source`, for example the
  // path of a file. Throws ValueError for an empty or repeated name, and unless there is one column
  // per name and all columns have the same length.
  Table(std::string source, std::vector<std::string> names,
        std::vector<std::vector<std::string>> columns);

  // Returns the number of rows.
  Index size() const { return columns_.empty() ? 0 : std::ssize(columns_.front()); }
  const std::vector<std::string>& names() const { return names_; }  // column names
  // Returns the cells of a column. Throws ValueError, which lists the column names, if there is no
  // column `name`.
  const std::vector<std::string>& texts(const std::string& name) const;
  // Returns the cells of the named columns as numbers, [rows, names]. Throws ValueError for an
  // unknown column and, naming row and column, for a cell that is not a finite number.
  template <class T = float>
  Tensor<T> numbers(const std::vector<std::string>& names) const;
  // Returns the cells of all columns as numbers, [rows, columns].
  template <class T = float>
  Tensor<T> numbers() const {
    return numbers<T>(names_);
  }

 private:
  std::string source_;  // the file, for messages
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> columns_;
};

// Reads a UTF-8 file. Cells may be quoted as in RFC 4180. Blank lines and a byte-order mark are
// skipped. Throws FileError if the file cannot be read, is larger than max_text_bytes, is not
// UTF-8, contains a NUL, has no rows, has a misplaced or unterminated quote, or has rows with
// different numbers of cells.
//   const Table table = read_csv("prices.csv");
//   const Tensor<float> x = table.numbers({"open", "close"});  // [rows, 2]
WEFT_API Table read_csv(const std::filesystem::path& path, const CsvOptions& options = {});

}  // namespace weft
