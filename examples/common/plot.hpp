// Pictures, drawn by gnuplot as a child process.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <weft/autograd/tensor.hpp>

namespace weft::examples {

// One curve, or points on their own: y over x, equally many of both.
struct Line {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
  bool points = false;
};

struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Line> lines;   // at least one
  bool logarithmic = false;  // both axes
};

struct HeatMap {
  std::string title;
  Tensor<float> values;  // [rows, columns]; the first row is drawn at the top
};

// Heat maps side by side, with the same rows, columns and colours. Names may be empty: an axis of
// many rows or columns says where it is with a few of them.
struct HeatMaps {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  std::vector<HeatMap> maps;  // at least one
  Index maps_in_row = 4;
  double lowest = 0.0, highest = 1.0;  // the values with the first and with the last colour
  double cell = 24.0;                  // the side of each value's square, in pixels
};

// Draws into `picture`, an .svg or .png file. Beside it stay the data (.dat) and the script (.gp),
// so that `gnuplot NAME.gp` in that folder draws again. Returns what was done, in one sentence:
// also that gnuplot is missing or what it complained of, and where the data are. Throws FileError
// when the files cannot be written, ValueError for another kind of picture, ShapeError for values
// that do not fit.
std::string draw(const LineChart& chart, const std::filesystem::path& picture);
std::string draw(const HeatMaps& maps, const std::filesystem::path& picture);

}  // namespace weft::examples
