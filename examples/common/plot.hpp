// Plots, drawn by gnuplot in a child process.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <weft/autograd/tensor.hpp>

namespace weft::examples {

// A curve of y over x, or separate points if `points` is set. x and y have equal lengths.
struct Line {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
  bool points = false;
};

// One or more lines in a coordinate system.
struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Line> lines;   // at least one
  bool logarithmic = false;  // scales of both axes
};

// A matrix, drawn as coloured cells.
struct HeatMap {
  std::string title;
  Tensor<float> values;  // [rows, columns]; row 0 is at the top
};

// Heat maps in a grid, with the same row names, column names and colour scale. Rows and columns
// with an empty name have no tick.
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

// Draws to the file `picture`, .svg or .png. Also writes the data (.dat) and the script (.gp) to
// the same directory; to draw the plot again, run `gnuplot NAME.gp` there. Returns a status message
// of one sentence. If gnuplot is missing or fails, the message says so and names the data file.
// Throws FileError if the files cannot be written, ValueError for another extension or if there is
// nothing to draw, and ShapeError for values of the wrong shape.
std::string draw(const LineChart& chart, const std::filesystem::path& picture);
std::string draw(const HeatMaps& maps, const std::filesystem::path& picture);

// Checks that `draw` can write its files; call it before computing the data. Throws FileError if a
// file exists and cannot be replaced, or is one of the inputs.
void check_picture(const std::filesystem::path& picture,
                   const std::vector<std::filesystem::path>& inputs = {});

}  // namespace weft::examples
