#include "examples/common/plot.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <weft/autograd/error.hpp>
#include "examples/common/child_process.hpp"
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
using namespace weft::examples;
namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Another PATH while it lives.
class Path {
 public:
  explicit Path(const char* value) : before_(std::getenv("PATH")) { setenv("PATH", value, 1); }
  ~Path() { setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

bool gnuplot_is_installed() {
  return run_process({"gnuplot", "--version"}).outcome != ProcessResult::Outcome::not_found;
}

const LineChart chart{"it's a title", "epoch", "loss", {{"training", {1, 2, 3}, {3, 2, 1.5}}}};
const HeatMaps maps{"heads",    "letters",          "phones",
                    {"a", "'"}, {"AH", "T", "end"}, {{"head 1", Tensor<float>({3, 2})}}};

}  // namespace

TEST_CASE("plot: without gnuplot the data stay and the sentence says so", "[examples]") {
  const TemporaryFolder folder;
  const Path nothing("/nonexistent");
  const std::string said = draw(chart, folder / "loss.svg");
  CHECK(contains(said, "gnuplot is not installed"));
  CHECK(contains(said, (folder / "loss.dat").string()));
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

TEST_CASE("plot: points, logarithmic axes, a range of values and few names on an axis",
          "[examples]") {
  const TemporaryFolder folder;
  const Path nothing("/nonexistent");
  LineChart scatter = chart;
  scatter.lines[0].points = true;
  scatter.logarithmic = true;
  draw(scatter, folder / "scatter.svg");
  CHECK(contains(text_of(folder / "scatter.gp"), "set logscale xy"));
  CHECK(contains(text_of(folder / "scatter.gp"), "with points"));
  HeatMaps range = maps;
  range.lowest = -1.0;
  range.columns = {"", ""};
  range.rows = {"", "ten", ""};
  draw(range, folder / "range.svg");
  CHECK(contains(text_of(folder / "range.gp"), "set cbrange [-1:1]"));
  CHECK(contains(text_of(folder / "range.gp"), "unset xtics\nset ytics ('ten' 1)\n"));
}

TEST_CASE("plot: values that do not fit, another ending and a missing folder are refused",
          "[examples]") {
  const TemporaryFolder folder;
  HeatMaps wrong = maps;
  wrong.maps[0].values = Tensor<float>({2, 2});
  CHECK(message_of<ShapeError>([&] { draw(wrong, folder / "x.svg"); }) ==
        "heat map 'head 1': expected [3, 2], got [2, 2]");
  CHECK(contains(message_of<ValueError>([&] { draw(chart, folder / "x.jpg"); }),
                 "expected a name that ends in .svg or .png, got '.jpg'"));
  CHECK(contains(message_of<FileError>([&] { draw(chart, folder / "none/x.svg"); }),
                 "No such file or directory"));
}
