// Pictures, drawn by gnuplot as a child process.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "autograd/tensor.hpp"

namespace weft::examples {

// One curve: y over x, equally many of both.
struct Line {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
};

struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Line> lines;  // at least one
};

struct HeatMap {
  std::string title;
  Tensor<float> values;  // [rows, columns], each 0 … 1; the first row is drawn at the top
};

// Heat maps side by side, with the same rows, columns and colours.
struct HeatMaps {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  std::vector<HeatMap> maps;  // at least one
  Index maps_in_row = 4;
};

// Draws into `picture`, an .svg or .png file. Beside it stay the data (.dat) and the script (.gp),
// so that `gnuplot NAME.gp` in that folder draws again. Returns what was done, in one sentence:
// also that gnuplot is missing or what it complained of, and where the data are. Throws FileError
// when the files cannot be written, ValueError for another kind of picture, ShapeError for values
// that do not fit.
std::string draw(const LineChart& chart, const std::filesystem::path& picture);
std::string draw(const HeatMaps& maps, const std::filesystem::path& picture);

}  // namespace weft::examples
