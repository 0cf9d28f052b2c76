// README and the guide: code is cut from files that are compiled, commands are run and print what
// the page shows, links lead somewhere, and figures of the source tree hold.
//
// A comment above a code block says what it is:
//   <!-- from: FILE -->              lines of FILE; a line "…" stands for any lines between
//   <!-- numbers within 5 % -->      a `console` block whose numbers may differ by that much,
//   <!-- numbers vary -->            or in any way, as they depend on the machine
//   <!-- not run: REASON -->         an output that is not compared
// A `console` block has commands after "$ ", each followed by its output, in which "…" stands for
// the rest of a line, and alone for any lines. All blocks of a page run in one folder, where
// build/examples, examples and tests are those of the tree. An `sh` block has commands without
// output, which are not run.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/examples/process.hpp"
#include "tests/messages.hpp"

namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

const fs::path root = WEFT_SOURCE;

Lines lines_of(const std::string& text) {
  std::istringstream in(text);
  Lines lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Lines file_lines(const fs::path& file) { return lines_of(weft::bytes_of(root / file)); }

// README.md, those of the rooms, and the pages of the guide, relative to the root.
std::vector<std::string> pages() {
  std::vector<std::string> found;
  for (const char* folder :
       {".", "autograd", "layers", "train", "examples", "examples/guide", "tests"})
    for (const auto& entry : fs::directory_iterator(root / folder))
      if (entry.path().extension() == ".md")
        found.push_back(fs::relative(entry.path(), root).string());
  std::sort(found.begin(), found.end());
  return found;
}

struct Block {
  std::size_t line;  // its first one in the page, from 1
  std::string language, note;
  Lines lines;
};

std::vector<Block> blocks_of(const std::string& page) {
  static const std::regex comment("<!-- (.*) -->");
  std::vector<Block> blocks;
  const Lines lines = file_lines(page);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with("```")) continue;
    Block block{i + 1, lines[i].substr(3), "", {}};
    if (std::smatch note; i > 0 && std::regex_match(lines[i - 1], note, comment))
      block.note = note[1];
    while (++i < lines.size() && lines[i] != "```") block.lines.push_back(lines[i]);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

// Where a page has what is wrong.
std::string at(const std::string& page, const Block& block) {
  return page + ":" + std::to_string(block.line) + ": ";
}

bool is_gap(const std::string& line) { return line == "…" || line == "  …"; }

// Whether `same(pattern line, line)` holds for all lines from i and k on, of which a gap in the
// pattern stands for any.
template <class Same>
bool match(const Lines& pattern, std::size_t i, const Lines& lines, std::size_t k, bool to_end,
           const Same& same) {
  for (; i < pattern.size(); ++i, ++k) {
    if (is_gap(pattern[i])) {
      for (; k <= lines.size(); ++k)
        if (match(pattern, i + 1, lines, k, to_end, same)) return true;
      return false;
    }
    if (k == lines.size() || !same(pattern[i], lines[k])) return false;
  }
  return !to_end || k == lines.size();
}

bool is_part_of(const Lines& snippet, const Lines& file) {
  for (std::size_t begin = 0; begin < file.size(); ++begin)
    if (match(snippet, 0, file, begin, false, std::equal_to<std::string>())) return true;
  return false;
}

// How much numbers may differ, relative to the larger one, beside one unit of the last digit that
// is shown: not at all unless the note says so.
double tolerance_of(const std::string& note) {
  static const std::regex within("numbers within (\\d+) %");
  if (note == "numbers vary") return INFINITY;
  std::smatch match;
  return std::regex_match(note, match, within) ? std::stod(match[1]) / 100 : 0.0;
}

struct Number {
  double value;
  double last_place;  // a unit of the last digit
};

Number number_of(const std::string& text) {
  static const std::regex parts(R"([-+]?\d+(?:\.(\d+))?(?:e([-+]?\d+))?)");
  std::smatch match;
  std::regex_match(text, match, parts);
  const double exponent = match[2].matched ? std::stod(match[2]) : 0.0;
  return {std::stod(text), std::pow(10.0, exponent - static_cast<double>(match[1].length()))};
}

// The text of a line without its numbers, and these.
std::pair<std::string, std::vector<Number>> without_numbers(const std::string& line) {
  static const std::regex number(R"([-+]?\d+(,\d{3})*(\.\d+)?(e[-+]?\d+)?)"), spaces(" +");
  std::vector<Number> numbers;
  for (std::sregex_iterator found(line.begin(), line.end(), number), end; found != end; ++found)
    numbers.push_back(number_of(std::regex_replace(found->str(), std::regex(","), "")));
  return {std::regex_replace(std::regex_replace(line, number, "#"), spaces, " "), numbers};
}

// Whether a page may show `shown` for a line that a program has printed.
bool shows(std::string shown, const std::string& printed, double tolerance) {
  const std::size_t rest = shown.find("…");
  const bool is_whole = rest == shown.npos;
  if (!is_whole) shown.resize(rest);
  const auto agree = [is_whole](const std::string& text, const std::string& other) {
    return is_whole ? text == other : other.starts_with(text);
  };
  if (tolerance == 0.0) return agree(shown, printed);
  const auto [text, numbers] = without_numbers(shown);
  const auto [printed_text, printed_numbers] = without_numbers(printed);
  if (!agree(text, printed_text) || numbers.size() > printed_numbers.size()) return false;
  return std::equal(numbers.begin(), numbers.end(), printed_numbers.begin(),
                    [tolerance](const Number& a, const Number& b) {
                      const double difference = std::abs(a.value - b.value);
                      return std::isinf(tolerance) || difference <= 1.01 * a.last_place ||
                             difference <=
                                 tolerance * std::max(std::abs(a.value), std::abs(b.value));
                    });
}

// A folder in which the paths of README are those of the tree.
void link_tree(const weft::TemporaryFolder& folder) {
  fs::create_directories(folder / "build");
  fs::create_directory_symlink(WEFT_PROGRAMS, folder / "build/examples");
  for (const char* name : {"examples", "tests"})
    fs::create_directory_symlink(root / name, folder / name);
}

// The commands of a block, each with the output that is shown.
std::vector<std::pair<std::string, Lines>> session_of(const Block& block) {
  std::vector<std::pair<std::string, Lines>> session;
  for (const std::string& line : block.lines) {
    if (line.starts_with("$ "))
      session.push_back({line.substr(2), {}});
    else if (session.empty())
      session.push_back({"false", {line}});
    else if (session.back().first.ends_with('\\') && session.back().second.empty())
      session.back().first += "\n" + line;
    else
      session.back().second.push_back(line);
  }
  return session;
}

// The anchor of a heading on code hosts.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    if (c == ' ' || c == '-')
      anchor += '-';
    else if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80))
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return anchor;
}

std::set<std::string> anchors_of(const fs::path& page) {
  std::set<std::string> anchors;
  bool in_block = false;
  for (const std::string& line : file_lines(page)) {
    if (line.starts_with("```")) in_block = !in_block;
    if (const std::size_t begin = line.find_first_not_of('#');
        !in_block && line.starts_with("#") && begin != line.npos)
      anchors.insert(anchor_of(line.substr(begin + 1)));
  }
  return anchors;
}

struct Link {
  std::string page, target;  // the target relative to the root, without anchor
  std::string anchor;
};

// The links of a page to files of the tree.
std::vector<Link> links_of(const std::string& page) {
  static const std::regex link(R"(\]\(([^)\s]+)\))");
  std::vector<Link> links;
  bool in_block = false;
  for (const std::string& line : file_lines(page)) {
    if (line.starts_with("```")) in_block = !in_block;
    if (in_block) continue;
    for (std::sregex_iterator found(line.begin(), line.end(), link), end; found != end; ++found) {
      const std::string target = (*found)[1];
      if (target.starts_with("http")) continue;
      const std::size_t hash = std::min(target.find('#'), target.size());
      const fs::path file =
          hash == 0 ? fs::path(page) : fs::path(page).parent_path() / target.substr(0, hash);
      links.push_back({page, file.lexically_normal().string(),
                       hash < target.size() ? target.substr(hash + 1) : ""});
    }
  }
  return links;
}

}  // namespace

TEST_CASE("guide: every snippet is a part of a file of the tree", "[examples]") {
  Lines wrong;
  std::size_t snippets = 0;
  for (const std::string& page : pages())
    for (const Block& block : blocks_of(page)) {
      if (block.language == "sh" || block.language == "console") continue;
      if (block.note.starts_with("not run: ")) continue;
      ++snippets;
      if (!block.note.starts_with("from: "))
        wrong.push_back(at(page, block) + "says neither `from:` nor `not run:`");
      else if (!is_part_of(block.lines, file_lines(block.note.substr(6))))
        wrong.push_back(at(page, block) + "is not a part of " + block.note.substr(6));
    }
  CHECK(wrong == Lines{});
  CHECK(snippets > 20);
}

TEST_CASE("guide: commands print what the page shows", "[examples]") {
  std::size_t commands = 0;
  for (const std::string& page : pages()) {
    const weft::TemporaryFolder folder;
    link_tree(folder);
    for (const Block& block : blocks_of(page)) {
      if (block.language != "console" || block.note.starts_with("not run: ")) continue;
      const double tolerance = tolerance_of(block.note);
      const auto same = [&](const std::string& shown, const std::string& printed) {
        return shows(shown, printed, tolerance);
      };
      for (const auto& [command, shown] : session_of(block)) {
        ++commands;
        const std::string printed = weft::process_in(folder, "{ " + command + "\n} 2>&1").output;
        INFO(at(page, block) << command << "\nprints\n" << printed);
        CHECK(match(shown, 0, lines_of(printed), 0, true, same));
      }
    }
  }
  CHECK(commands > 20);
}

TEST_CASE("guide: commands that are not run name programs and scripts of the tree", "[examples]") {
  static const std::regex program(R"(build/examples/([\w/]+))"),
      script(R"((tests|examples)/[\w/]+\.(sh|py))");
  Lines missing;
  for (const std::string& page : pages())
    for (const Block& block : blocks_of(page))
      for (const std::string& line : block.lines) {
        if (block.language != "sh" && block.language != "console") continue;
        if (std::smatch found; std::regex_search(line, found, program))
          if (!fs::exists(fs::path(WEFT_PROGRAMS) / found[1].str()))
            missing.push_back(at(page, block) + found.str());
        if (std::smatch found; std::regex_search(line, found, script))
          if (!fs::exists(root / found.str())) missing.push_back(at(page, block) + found.str());
      }
  CHECK(missing == Lines{});
}

TEST_CASE("guide: links lead to files and headings of the tree", "[examples]") {
  Lines broken;
  for (const std::string& page : pages())
    for (const Link& link : links_of(page))
      if (!fs::exists(root / link.target) ||
          (!link.anchor.empty() && !anchors_of(link.target).contains(link.anchor)))
        broken.push_back(page + ": " + link.target + (link.anchor.empty() ? "" : "#") +
                         link.anchor);
  CHECK(broken == Lines{});
}

TEST_CASE("guide: README is short, and every page is at most two clicks away", "[examples]") {
  CHECK(file_lines("README.md").size() <= 200);
  std::set<std::string> reached{"README.md"};
  for (int click = 0; click < 2; ++click)
    for (const std::string& page : std::set<std::string>(reached))
      if (page.ends_with(".md"))
        for (const Link& link : links_of(page)) reached.insert(link.target);
  for (const std::string& page : pages()) CHECK(reached.contains(page));
}

TEST_CASE("guide: pictures are those that its program draws", "[examples]") {
  const weft::TemporaryFolder folder;
  REQUIRE(weft::process_in(folder, WEFT_PROGRAMS "/guide/pictures .").status == 0);
  std::size_t pictures = 0;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    if (entry.path().extension() == ".svg") {
      ++pictures;
      CHECK(weft::bytes_of(entry.path()) ==
            weft::bytes_of(root / "examples/guide" / entry.path().filename()));
    }
  CHECK(pictures > 0);
}

TEST_CASE("guide: programs and their PyTorch scripts have as many lines as shown", "[examples]") {
  static const std::regex row(R"(\| `(\w+)`: .*)"),
      not_counted(R"re( *(//|#|"""|import |from |using |$).*)re");
  const auto count = [](const fs::path& file) {
    const Lines lines = file_lines(file);
    return std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
      return !std::regex_match(line, not_counted);
    });
  };
  int programs = 0;
  for (const std::string& line : file_lines("examples/guide/pytorch.md"))
    if (std::smatch match; std::regex_match(line, match, row)) {
      const std::string name = match[1];
      fs::path file = "examples/" + name + ".cpp";
      if (!fs::exists(root / file)) file = "examples/projects/" + name + "/main.cpp";
      const auto lines = count(file);
      const auto in_pytorch = count("tests/benchmarks/peers/programs/" + name + ".py");
      std::ostringstream columns;
      columns << "| " << lines << " | " << in_pytorch << " | " << std::fixed << std::setprecision(2)
              << static_cast<double>(lines) / static_cast<double>(in_pytorch) << " |";
      INFO(line);
      CHECK(weft::contains(line, columns.str()));
      ++programs;
    }
  CHECK(programs == 7);
}

TEST_CASE("guide: the engine has as many lines as it says", "[examples]") {
  const std::string page = weft::bytes_of(root / "examples/guide/engine.md");
  std::smatch match;
  REQUIRE(std::regex_search(page, match, std::regex(R"((\d+) lines in `autograd/`)")));
  std::ptrdiff_t lines = 0;
  for (const char* folder : {"autograd", "autograd/internal"})
    for (const auto& entry : fs::directory_iterator(root / folder)) {
      const std::string name = entry.path().filename().string();
      const std::string extension = entry.path().extension().string();
      if ((extension != ".hpp" && extension != ".cpp") || name.starts_with("gradcheck") ||
          name.starts_with("text_table"))
        continue;
      lines += std::ssize(file_lines(fs::relative(entry.path(), root)));
    }
  CHECK(lines == std::stol(match[1]));
}
