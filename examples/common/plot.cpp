#include "examples/common/plot.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <weft/autograd/error.hpp>
#include <weft/train/files/utf8.hpp>
#include "examples/common/child_process.hpp"
#include "examples/common/output_files.hpp"

namespace weft::examples {
namespace {

namespace fs = std::filesystem;

// Returns `text` as a gnuplot string literal.
std::string quoted(const std::string& text) {
  std::string literal = "'";
  for (const char c : text) literal += c == '\'' ? "''" : std::string(1, c);
  return literal + "'";
}

fs::path with_extension(const fs::path& picture, const char* extension) {
  return fs::path(picture).replace_extension(extension);
}

std::string file_name(const fs::path& path) { return path.filename().string(); }

// Return the paths of the data and the script of a picture.
fs::path data_file(const fs::path& picture) { return with_extension(picture, ".dat"); }
fs::path script_file(const fs::path& picture) { return with_extension(picture, ".gp"); }

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) throw FileError("cannot write '" + path.string() + "': " + std::strerror(errno));
}

// The colour of text and lines: readable on light and on dark pages, as SVG has no background.
constexpr const char* ink = "textcolor '#768390'";

// Returns the first lines of the script: the output file, its size in pixels and common settings.
std::string preamble(const fs::path& picture, Index width, Index height) {
  const std::string extension = picture.extension().string();
  if (extension != ".svg" && extension != ".png")
    fail<ValueError>("picture '" + picture.string() + "'", "the extension .svg or .png",
                     extension.empty() ? "none" : "'" + extension + "'");
  // svg measures font sizes in pixels, pngcairo in points.
  const bool is_svg = extension == ".svg";
  const char* terminal = is_svg ? "svg font 'sans-serif,13'" : "pngcairo font 'sans-serif,10'";
  return str_cat("set encoding utf8\nset terminal ", terminal, " noenhanced size ", width, ",",
                 height, is_svg ? "" : " background '#ffffff'", "\nset output ",
                 quoted(file_name(picture)), "\nset tics nomirror scale 0.5 ", ink, "\nset key ",
                 ink, '\n');
}

std::string run_gnuplot(const std::string& script, const std::string& data,
                        const fs::path& picture) {
  check_picture(picture);
  write_file(data_file(picture), data);
  write_file(script_file(picture), script);
  // The script uses file names relative to its directory.
  const fs::path directory = fs::absolute(picture).parent_path();
  const ProcessResult result =
      run_process({"gnuplot", "-d", "-e", "cd " + quoted(directory.string()),
                   fs::absolute(script_file(picture)).string()});
  const std::string data_note = "; the data are in " + data_file(picture).string();
  switch (result.outcome) {
    case ProcessResult::Outcome::succeeded:
      return "drew " + picture.string();
    case ProcessResult::Outcome::not_found:
      return "gnuplot is not installed (Debian package gnuplot-nox): " + picture.string() +
             " was not drawn" + data_note;
    default:
      return "gnuplot could not draw " + picture.string() + data_note + ": " + result.errors;
  }
}

// Returns the number of characters of the longest name.
std::size_t longest(const std::vector<std::string>& names) {
  std::size_t length = 0;
  for (const std::string& name : names) length = std::max(length, count_characters(name));
  return length;
}

// Returns a `set xtics` or `set ytics` command with names[i] at position i, unless it is empty.
std::string named_tics(const char* axis, const std::vector<std::string>& names) {
  std::string tics;
  // Rotate names that would overlap.
  const char* turned = longest(names) > 2 && *axis == 'x' ? " rotate by 90 right" : "";
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names[i].empty()) tics += (tics.empty() ? "" : ", ") + quoted(names[i]) + " " + str_cat(i);
  if (tics.empty()) return str_cat("unset ", axis, "tics\n");
  return str_cat("set ", axis, "tics", turned, " (", tics, ")\n");
}

constexpr const char* viridis =
    "set palette defined (0 '#440154', 1 '#472c7a', 2 '#3b518b', 3 '#2c718e', 4 '#21908d', "
    "5 '#27ad81', 6 '#5cc863', 7 '#aadc32', 8 '#fde725')\n";

}  // namespace

void check_picture(const fs::path& picture, const std::vector<fs::path>& inputs) {
  for (const fs::path& file : {picture, data_file(picture), script_file(picture)})
    check_replaceable(file, inputs);
}

std::string draw(const LineChart& chart, const fs::path& picture) {
  if (chart.lines.empty())
    fail<ValueError>("chart '" + chart.title + "'", "at least one line", "none");
  TextStream script;
  TextStream data;
  script << preamble(picture, 860, 480) << "set title " << quoted(chart.title) << ' ' << ink
         << "\nset xlabel " << quoted(chart.x_label) << " offset 0,0.4 " << ink << "\nset ylabel "
         << quoted(chart.y_label) << ' ' << ink
         << "\nset border 3 linecolor '#888888'\n"
            "set grid ytics linecolor '#a0888888' linetype 1\n"
            "set key below Left reverse samplen 2\n"
            "set linetype 1 linecolor '#3b6fb6'\nset linetype 2 linecolor '#e07b39'\n"
            "set linetype 3 linecolor '#3f9b5b'\nset linetype 4 linecolor '#8a5fb0'\n"
            "set linetype 5 linecolor '#888888'\nset linetype 6 linecolor '#c0504d'\n"
         << (chart.logarithmic ? "set logscale xy\n" : "") << "plot ";
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const Line& line = chart.lines[i];
    if (line.x.size() != line.y.size())
      fail<ShapeError>("line '" + line.name + "'", str_cat(line.x.size(), " values of y"),
                       line.y.size());
    data << "# " << line.name << '\n';
    for (std::size_t k = 0; k < line.x.size(); ++k) data << line.x[k] << '\t' << line.y[k] << '\n';
    data << "\n\n";
    const char* style = line.points          ? "points pointtype 7 pointsize 0.6"
                        : line.x.size() > 60 ? "lines linewidth 2"
                                             : "linespoints pointtype 7 pointsize 0.5 linewidth 2";
    script << (i > 0 ? ", \\\n     " : "") << quoted(file_name(data_file(picture))) << " index "
           << i << " with " << style << " title " << quoted(line.name);
  }
  script << '\n';
  return run_gnuplot(script.str(), data.str(), picture);
}

std::string draw(const HeatMaps& maps, const fs::path& picture) {
  const auto columns = static_cast<Index>(maps.columns.size());
  const auto rows = static_cast<Index>(maps.rows.size());
  const auto count = static_cast<Index>(maps.maps.size());
  if (count < 1 || maps.maps_in_row < 1)
    fail<ValueError>("heat maps '" + maps.title + "'", "at least one map and at least one in a row",
                     str_cat(count, " and ", maps.maps_in_row));
  const Index grid_columns = std::min(maps.maps_in_row, count);
  const Index grid_rows = (count + grid_columns - 1) / grid_columns;
  // In pixels: gaps between maps, and the outer margins.
  constexpr std::size_t short_name = 2;
  constexpr double character = 8.0;
  const auto more_than_short = [&](const std::vector<std::string>& names) {
    return character * static_cast<double>(std::max(longest(names), short_name) - short_name);
  };
  const double for_rows = more_than_short(maps.rows), for_columns = more_than_short(maps.columns);
  const double gap_x = 62 + for_rows, gap_y = 66 + for_columns, left = 80 + for_rows, right = 100,
               top = 84, bottom = 62 + for_columns;
  const double map_width = maps.cell * static_cast<double>(columns);
  const double map_height = maps.cell * static_cast<double>(rows);
  const double width = left + right + map_width * static_cast<double>(grid_columns) +
                       gap_x * static_cast<double>(grid_columns - 1);
  const double height = top + bottom + map_height * static_cast<double>(grid_rows) +
                        gap_y * static_cast<double>(grid_rows - 1);

  TextStream script;
  TextStream data;
  script << preamble(picture, static_cast<Index>(width), static_cast<Index>(height)) << viridis
         << "unset key\nset border linecolor '#888888'\nset cbrange [" << maps.lowest << ':'
         << maps.highest << "]\nset cbtics " << (maps.highest - maps.lowest) / 4
         << "\nset xrange [-0.5:" << columns << " - 0.5]\nset yrange [" << rows << " - 0.5:-0.5]\n"
         << named_tics("x", maps.columns) << named_tics("y", maps.rows) << "set multiplot\n"
         << "set label 1 " << quoted(maps.title) << " at screen 0.5, screen " << 1 - 24 / height
         << " center " << ink << '\n'
         << "set colorbox user origin screen " << 1 - 76 / width << ", screen " << bottom / height
         << " size screen " << 14 / width << ", screen " << 1 - (top + bottom) / height << '\n';
  for (Index i = 0; i < count; ++i) {
    const HeatMap& map = maps.maps[static_cast<std::size_t>(i)];
    if (map.values.shape() != Shape{rows, columns})
      fail<ShapeError>("heat map '" + map.title + "'", Shape{rows, columns}, map.values.shape());
    data << "# " << map.title << '\n';
    for (Index row = 0; row < rows; ++row) {
      for (Index column = 0; column < columns; ++column)
        data << map.values(row, column) << (column + 1 < columns ? '\t' : '\n');
    }
    data << "\n\n";
    const auto column = i % grid_columns, row = i / grid_columns;
    const double x = left + (map_width + gap_x) * static_cast<double>(column);
    const double y = top + (map_height + gap_y) * static_cast<double>(row);
    script << "set lmargin at screen " << x / width << "\nset rmargin at screen "
           << (x + map_width) / width << "\nset tmargin at screen " << 1 - y / height
           << "\nset bmargin at screen " << 1 - (y + map_height) / height << "\nset title "
           << quoted(map.title) << " offset 0,-0.5 " << ink << "\nset xlabel "
           << quoted(row == grid_rows - 1 ? maps.x_label : "") << ' ' << ink << "\nset ylabel "
           << quoted(column == 0 ? maps.y_label : "") << ' ' << ink << "\nplot "
           << quoted(file_name(data_file(picture))) << " index " << i
           << " matrix with image pixels\nunset label 1\nunset colorbox\n";
  }
  script << "unset multiplot\n";
  return run_gnuplot(script.str(), data.str(), picture);
}

}  // namespace weft::examples
