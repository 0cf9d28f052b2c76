// weft-runs: compares training runs, in a table and on an HTML page with their curves.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <set>

#include <weft/train/files/utf8.hpp>
#include <weft/train/report/run_record.hpp>
#include "examples/common/command_line.hpp"
#include "examples/common/output_files.hpp"
#include "examples/common/program.hpp"

using namespace weft;

namespace {

namespace fs = std::filesystem;
using Cells = std::vector<std::string>;

bool is_run(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "metrics.csv", error);
}

// Returns `folder` if it is the folder of a run, otherwise the folders of the runs in it, sorted by
// name. Throws FileError if no runs are found.
std::vector<fs::path> folders_in(const fs::path& folder) {
  if (is_run(folder)) return {folder};
  std::vector<fs::path> runs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (is_run(entry.path())) runs.push_back(entry.path());
  if (runs.empty())
    fail<FileError>(str_cat('\'', folder.string(), '\''),
                    "the folder of a run (with metrics.csv), or a folder of such folders",
                    error ? error.message() : "a folder without runs");
  std::ranges::sort(runs);
  return runs;
}

std::string setting(const RunRecord& run, const std::string& name) {
  for (const auto& [its_name, value] : run.settings)
    if (its_name == name) return value;
  return "";
}

// Returns the names of the settings that differ between runs. Runs without recorded settings are
// ignored.
std::vector<std::string> differences(const std::vector<RunRecord>& runs) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const RunRecord& run : runs)
    for (const auto& known : run.settings)
      if (seen.insert(known.first).second && std::ranges::any_of(runs, [&](const RunRecord& other) {
            return !other.settings.empty() && setting(other, known.first) != known.second;
          }))
        names.push_back(known.first);
  return names;
}

// Returns the value of a setting in each run. If all values are lists of the same length, separated
// by commas, returns only the parts that differ. Runs without recorded settings are ignored.
std::vector<std::string> differing_parts(const std::vector<RunRecord>& runs,
                                         const std::string& name) {
  std::vector<Cells> parts;
  std::set<std::size_t> sizes;
  for (const RunRecord& run : runs) {
    Cells& list = parts.emplace_back();
    std::string rest = setting(run, name);
    for (std::size_t comma; (comma = rest.find(", ")) != rest.npos; rest.erase(0, comma + 2))
      list.push_back(rest.substr(0, comma));
    list.push_back(rest);
    if (!run.settings.empty()) sizes.insert(list.size());
  }
  std::vector<std::string> values;
  for (const Cells& list : parts) {
    std::string& value = values.emplace_back();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool differs = std::ranges::any_of(parts, [&](const Cells& other) {
        return other.size() == list.size() && other[i] != list[i];
      });
      if (sizes.size() != 1 || differs) value += (value.empty() ? "" : ", ") + list[i];
    }
  }
  return values;
}

std::string duration_of(const RunRecord& run) {
  if (!run.seconds) return "";
  const auto seconds = static_cast<long>(*run.seconds);
  return str_cat(seconds / 3600, std::setfill('0'), ':', std::setw(2), seconds / 60 % 60, ':',
                 std::setw(2), seconds % 60);
}

// Returns the table: a line of column names, and a line for each run.
std::vector<Cells> table_of(const std::vector<RunRecord>& runs) {
  const std::vector<std::string> names = differences(runs);
  Cells header{"run"};
  header.insert(header.end(), names.begin(), names.end());
  header.insert(header.end(), {"best", "at step", "steps done", "time", "state"});
  std::vector<std::vector<std::string>> columns;
  for (const std::string& name : names) columns.push_back(differing_parts(runs, name));
  std::vector<Cells> table{header};
  for (const RunRecord& run : runs) {
    Cells& line = table.emplace_back(Cells{run.name});
    for (const auto& values : columns) line.push_back(values[table.size() - 2]);
    const bool has_best = run.best_step > 0;
    line.insert(line.end(),
                {has_best ? str_cat(run.best_value) : "", has_best ? str_cat(run.best_step) : "",
                 str_cat(run.steps), duration_of(run), run.state});
  }
  for (Cells& line : table)
    for (std::string& cell : line) {
      constexpr std::size_t widest = 32;
      cell = printable(cell);
      if (count_characters(cell) <= widest) continue;
      const std::vector<std::string> characters = utf8_characters(cell, "cell");
      cell.clear();
      for (std::size_t i = 0; i + 1 < widest; ++i) cell += characters[i];
      cell += "…";
    }
  return table;
}

std::vector<std::size_t> widths_of(const std::vector<Cells>& table) {
  std::vector<std::size_t> widths(table.front().size());
  for (const Cells& line : table)
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], count_characters(line[i]));
  return widths;
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
}

// Prints the table with one run per line, or, if the lines are wider than the terminal, with one
// run per column.
void print(std::vector<Cells> table) {
  std::size_t width = 0;
  for (const std::size_t column : widths_of(table)) width += column + 2;
  if (width > terminal_width() + 2) {
    std::vector<Cells> turned(table.front().size());
    for (const Cells& line : table)
      for (std::size_t i = 0; i < line.size(); ++i) turned[i].push_back(line[i]);
    table = std::move(turned);
  }
  const std::vector<std::size_t> widths = widths_of(table);
  for (const Cells& line : table) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i)
      text += line[i] + std::string(widths[i] - count_characters(line[i]) + 2, ' ');
    std::cout << text.substr(0, text.find_last_not_of(' ') + 1) << '\n';
  }
}

int compare(const std::vector<std::string>& arguments, const fs::path& page) {
  std::vector<fs::path> folders;
  int status = 0;
  const auto or_say = [&](const auto& work) {
    try {
      work();
    } catch (const Error& error) {
      std::cerr << "weft-runs: " << error.what() << std::endl;
      status = 1;
    }
  };
  for (const std::string& argument : arguments)
    or_say([&] {
      for (const fs::path& folder : folders_in(argument)) folders.push_back(folder);
    });
  std::vector<fs::path> inputs;
  for (const fs::path& folder : folders)
    inputs.insert(inputs.end(), {folder / "metrics.csv", folder / "run.json"});
  examples::check_replaceable(page, inputs);
  // The page remains below 3 MB for any number of runs.
  const std::size_t points = 8192 / std::max<std::size_t>(folders.size(), 1);
  std::vector<RunRecord> runs;
  for (const fs::path& folder : folders)
    or_say([&] { runs.push_back(read_run(folder, std::clamp<std::size_t>(points, 64, 2048))); });
  if (runs.empty()) return 1;
  print(table_of(runs));
  write_comparison(page, runs);
  std::cout << "curves in " << page.string() << '\n';
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_program("weft-runs", [&] {
    std::string page = "runs.html";
    std::vector<std::string> folders;
    examples::CommandLine line("weft-runs",
                               "Compares training runs: prints a table of their differing settings "
                               "and their results, and writes an HTML page with their curves.");
    line.option("page", "HTML file to write", page);
    line.arguments("FOLDER...", folders);
    if (!line.parse(argc, argv)) return 0;
    if (folders.empty()) fail<examples::UsageError>("command line", "at least one folder", "none");
    return compare(folders, page);
  });
}
