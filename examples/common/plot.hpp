// Plots, drawn by gnuplot as a child process.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <weft/autograd/tensor.hpp>

namespace weft::examples {

// A curve, or a scatter plot if `points` is set: y over x, of equal lengths.
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
  Tensor<float> values;  // [rows, columns]; row 0 is at the top
};

// Heat maps side by side that share row names, column names and the colour scale. Rows and columns
// with an empty name get no tick.
struct HeatMaps {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  std::vector<HeatMap> maps;  // at least one
  Index maps_in_row = 4;
  double lowest = 0.0, highest = 1.0;  // the range of the colour scale
  double cell = 24.0;                  // the side of each cell, in pixels
};

// Draws to the file `picture`, .svg or .png. The data (.dat) and the script (.gp) are kept in the
// same directory, where `gnuplot NAME.gp` draws the plot again. Returns a status message of one
// sentence; if gnuplot is missing or failed, it says so and where the data are. Throws FileError
// when the files cannot be written, ValueError for any other file extension and when there is
// nothing to draw, ShapeError for values of the wrong shape.
std::string draw(const LineChart& chart, const std::filesystem::path& picture);
std::string draw(const HeatMaps& maps, const std::filesystem::path& picture);

// Throws FileError when a file that `draw` would write exists and cannot be replaced, or is one of
// the inputs; for programs to call before they compute what they draw.
void check_picture(const std::filesystem::path& picture,
                   const std::vector<std::filesystem::path>& inputs = {});

}  // namespace weft::examples
