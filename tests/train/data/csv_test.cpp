#include <fstream>

#include <weft/autograd/error.hpp>
#include <weft/train/data/csv.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

struct CsvFile {
  explicit CsvFile(const std::string& text, const char* name = "table.csv") : path(folder / name) {
    std::ofstream(path, std::ios::binary) << text;
  }
  TemporaryFolder folder;
  std::filesystem::path path;
};

Table table_of(const std::string& text, const CsvOptions& options = {}) {
  return read_csv(CsvFile(text).path, options);
}

// The message of the error, without the folder.
std::string error_of(const std::string& text) {
  const std::string message = message_of<FileError>([&] { table_of(text); });
  return message.substr(std::min(message.size(), message.find("table.csv")));
}

}  // namespace

TEST_CASE("csv: columns by name, as texts and as numbers", "[train]") {
  const Table table = table_of(
      "\xEF\xBB\xBF"
      "day,high,\"low, or none\"\r\n"
      "mon,1.5,-2e3\r\n\r\n\"say \"\"hi\"\"\",3,4");
  CHECK(table.names() == std::vector<std::string>{"day", "high", "low, or none"});
  CHECK(table.size() == 2);
  CHECK(table.texts("day") == std::vector<std::string>{"mon", "say \"hi\""});
  const Tensor<float> numbers = table.numbers({"low, or none", "high"});
  REQUIRE(numbers.shape() == Shape{2, 2});
  CHECK(numbers(0, 0) == -2000.0f);
  CHECK(numbers(1, 1) == 3.0f);
}

TEST_CASE("csv: tab-separated files, other separators, no header", "[train]") {
  const Table tabs = read_csv(CsvFile("a\tb\n1\t2\n", "table.tsv").path);
  CHECK(tabs.numbers<double>()(0, 1) == 2.0);
  const Table semicolons = table_of("1;2\n3;4\n", {.separator = ';', .header = false});
  CHECK(semicolons.names() == std::vector<std::string>{"0", "1"});
  CHECK(semicolons.numbers({"1"})(1, 0) == 4.0f);
}

TEST_CASE("csv: what is no table is refused by its row", "[train]") {
  CHECK(error_of("a,b\n1,2\n3\n") == "table.csv\": expected 2 cells in each row, got 1 in row 3");
  CHECK(error_of("a,b\n1,2,3\n") == "table.csv\": expected 2 cells in each row, got 3 in row 2");
  CHECK(error_of("a,b\n1,\"2\n3,4\n") ==
        "table.csv\": expected pairs of quotes around whole cells, got a misplaced or unterminated "
        "quote in row 2");
  CHECK(error_of("a,b\n") == "table.csv\": expected at least one row, got none");
  CHECK(error_of("") == "table.csv\": expected text, got an empty file");
  CHECK(error_of("a\n\xff\n") == "table.csv\": expected UTF-8 text, got byte 255 at position 2");
  CHECK(error_of(std::string("a\n1\0\n", 6)) ==
        "table.csv\": expected text without NUL, got a NUL byte");
  CHECK_THROWS_AS(read_csv("/nonexistent.csv"), FileError);
  CHECK_THROWS_AS(read_csv("/"), FileError);
  CHECK_THROWS_AS(table_of("a,a\n1,2\n"), ValueError);
}

TEST_CASE("csv: a table has a name for each column, and columns of one length", "[train]") {
  const auto message = [](std::vector<std::string> names,
                          std::vector<std::vector<std::string>> columns) {
    return message_of<ValueError>([&] { Table("table", names, columns); });
  };
  CHECK(message({"a", "b"}, {{"1"}, {"2"}}).empty());
  CHECK(message({"a"}, {{"1"}, {"2"}}) == "table: expected 1 columns, got 2");
  CHECK(message({"a", "b"}, {{"1"}, {"2", "3"}}) == "table: expected 1 rows in each column, got 2");
  CHECK_FALSE(message({"a", ""}, {{"1"}, {"2"}}).empty());
}

TEST_CASE("csv: cells that are no finite numbers are refused by row and column", "[train]") {
  for (const char* cell : {"", "x", "1.5x", "nan", "inf", "1e999", "1 2"}) {
    const Table table = table_of(str_cat("a,b\n1,2\n3,", cell, "\n"));
    const std::string message = message_of<ValueError>([&] { table.numbers(); });
    CHECK(message.ends_with(
        str_cat("table.csv\": row 2, column 'b': expected a finite number, got '", cell, "'")));
  }
  const Table table = table_of("a,b\n1,2\n");
  CHECK(message_of<ValueError>([&] {
          table.texts("c");
        }).ends_with("table.csv\": expected one of the columns 'a', 'b', got 'c'"));
}
