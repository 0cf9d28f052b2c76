#include "examples/common/plot.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <weft/autograd/error.hpp>
#include "examples/common/child_process.hpp"
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
using namespace weft::examples;
namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Sets PATH during its lifetime.
class ScopedPath {
 public:
  explicit ScopedPath(const char* value) : previous_(std::getenv("PATH")) {
    setenv("PATH", value, 1);
  }
  ~ScopedPath() { setenv("PATH", previous_.c_str(), 1); }

 private:
  std::string previous_;
};

bool gnuplot_is_installed() {
  return run_process({"gnuplot", "--version"}).outcome != ProcessResult::Outcome::not_found;
}

const LineChart chart{"it's a title", "epoch", "loss", {{"training", {1, 2, 3}, {3, 2, 1.5}}}};
const HeatMaps maps{"heads",    "letters",          "phones",
                    {"a", "'"}, {"AH", "T", "end"}, {{"head 1", Tensor<float>({3, 2})}}};

}  // namespace

TEST_CASE("plot: without gnuplot the data are kept and the message says so", "[examples]") {
  const TemporaryFolder folder;
  const ScopedPath path("/nonexistent");
  const std::string message = draw(chart, folder / "loss.svg");
  CHECK(contains(message, "gnuplot is not installed"));
  CHECK(contains(message, (folder / "loss.dat").string()));
  CHECK(text_of(folder / "loss.dat") == "# training\n1\t3\n2\t2\n3\t1.5\n\n\n");
  CHECK_FALSE(fs::exists(folder / "loss.svg"));
}

TEST_CASE("plot: with gnuplot an SVG and a PNG are drawn", "[examples]") {
  if (!gnuplot_is_installed()) return;
  const TemporaryFolder folder;
  CHECK(draw(chart, folder / "it's.svg") == "drew " + (folder / "it's.svg").string());
  CHECK(contains(text_of(folder / "it's.svg"), "it's a title"));
  CHECK(draw(maps, folder / "heads.svg") == "drew " + (folder / "heads.svg").string());
  CHECK(contains(text_of(folder / "heads.svg"), "head 1"));
  CHECK(draw(maps, folder / "heads.png") == "drew " + (folder / "heads.png").string());
  CHECK(text_of(folder / "heads.png").substr(1, 3) == "PNG");
}

TEST_CASE("plot: points, logarithmic axes, a value range and empty tick names", "[examples]") {
  const TemporaryFolder folder;
  const ScopedPath path("/nonexistent");
  LineChart scatter = chart;
  scatter.lines[0].points = true;
  scatter.logarithmic = true;
  draw(scatter, folder / "scatter.svg");
  CHECK(contains(text_of(folder / "scatter.gp"), "set logscale xy"));
  CHECK(contains(text_of(folder / "scatter.gp"), "with points"));
  HeatMaps value_range = maps;
  value_range.lowest = -1.0;
  value_range.columns = {"", ""};
  value_range.rows = {"", "ten", ""};
  draw(value_range, folder / "range.svg");
  CHECK(contains(text_of(folder / "range.gp"), "set cbrange [-1:1]"));
  CHECK(contains(text_of(folder / "range.gp"), "unset xtics\nset ytics ('ten' 1)\n"));
}

TEST_CASE("plot: wrong shapes, other file extensions and missing directories are errors",
          "[examples]") {
  const TemporaryFolder folder;
  HeatMaps wrong_shape = maps;
  wrong_shape.maps[0].values = Tensor<float>({2, 2});
  CHECK(message_of<ShapeError>([&] { draw(wrong_shape, folder / "x.svg"); }) ==
        "heat map 'head 1': expected [3, 2], got [2, 2]");
  CHECK(contains(message_of<ValueError>([&] { draw(chart, folder / "x.jpg"); }),
                 "expected the extension .svg or .png, got '.jpg'"));
  CHECK(contains(message_of<FileError>([&] { draw(chart, folder / "none/x.svg"); }),
                 "No such file or directory"));
}

TEST_CASE("plot: nothing to draw is an error", "[examples]") {
  const TemporaryFolder folder;
  LineChart no_lines = chart;
  no_lines.lines.clear();
  CHECK(message_of<ValueError>([&] { draw(no_lines, folder / "x.svg"); }) ==
        "chart 'it's a title': expected at least one line, got none");
  HeatMaps no_maps = maps;
  no_maps.maps.clear();
  CHECK(message_of<ValueError>([&] { draw(no_maps, folder / "x.svg"); }) ==
        "heat maps 'heads': expected at least one map and at least one in a row, got 0 and 4");
  HeatMaps no_columns = maps;
  no_columns.maps_in_row = 0;
  CHECK(message_of<ValueError>([&] { draw(no_columns, folder / "x.svg"); }) ==
        "heat maps 'heads': expected at least one map and at least one in a row, got 1 and 0");
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("plot: a file that cannot be replaced is refused before anything is written",
          "[examples]") {
  const TemporaryFolder folder;
  for (const char* name : {"x.svg", "x.dat", "x.gp"}) {
    REQUIRE(::mkfifo((folder / name).c_str(), 0666) == 0);
    CHECK(contains(
        message_of<FileError>([&] { draw(chart, folder / "x.svg"); }),
        std::string(name) + "': expected a regular file to replace, got a device, pipe or socket"));
    fs::remove(folder / name);
    CHECK(fs::is_empty(folder.path()));
  }
  for (const char* name : {"x.svg", "x.dat", "x.gp"}) {
    write_bytes(folder / name, "text");
    CHECK(
        contains(message_of<FileError>([&] { check_picture(folder / "x.svg", {folder / name}); }),
                 std::string(name) + "': expected a file that is not an input, got an input file"));
  }
}
