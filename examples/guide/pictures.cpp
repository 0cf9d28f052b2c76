// pictures FOLDER: draws the guide's pictures as SVG files, for light and dark pages.
#include <fstream>
#include <functional>
#include <iostream>

#include <weft/weft.hpp>

using namespace weft;

// An SVG drawing of boxes, arrows and text. Positions and sizes are in pixels.
class Drawing {
 public:
  Drawing(int width, int height) {
    svg_ +=
        str_cat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height,
                "\" viewBox=\"0 0 ", width, ' ', height,
                "\" font-family=\"sans-serif\" font-size=\"13\">\n"
                "<style>\n"
                "text { fill: #24292f; text-anchor: middle } .code { font-family: monospace }\n"
                ".line { stroke: #57606a; stroke-width: 1.5; fill: none }\n"
                ".back { stroke: #bc4c00; stroke-width: 1.5; fill: none; stroke-dasharray: 5 3 }\n"
                ".box { stroke: #57606a; fill: #ddf4ff } .on { stroke: #fff; fill: #0969da }\n"
                ".off { stroke: #fff; fill: #d0d7de } .grey { fill: #57606a }\n"
                ".orange { fill: #bc4c00 }\n"
                "@media (prefers-color-scheme: dark) {\n"
                "text { fill: #e6edf3 } .line { stroke: #8b949e } .back { stroke: #f0883e }\n"
                ".box { stroke: #8b949e; fill: #12304d } .on { stroke: #0d1117; fill: #58a6ff }\n"
                ".off { stroke: #0d1117; fill: #30363d } .grey { fill: #8b949e }\n"
                ".orange { fill: #f0883e } }\n"
                "</style>\n"
                "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
                "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">"
                "<path class=\"grey\" d=\"M0 0L8 4L0 8z\"/></marker>"
                "<marker id=\"back\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
                "markerHeight=\"7\" orient=\"auto\"><path class=\"orange\" d=\"M0 0L8 4L0 8z\"/>"
                "</marker></defs>\n");
  }
  void text(int x, int y, const std::string& words, const std::string& kind = "") {
    svg_ += str_cat("<text x=\"", x, "\" y=\"", y, "\" class=\"", kind, "\">", words, "</text>\n");
  }
  void box(int x, int y, int width, int height, const std::string& kind = "box") {
    svg_ += str_cat("<rect x=\"", x, "\" y=\"", y, "\" width=\"", width, "\" height=\"", height,
                    "\" rx=\"4\" class=\"", kind, "\"/>\n");
  }
  void arrow(int x, int y, int to_x, int to_y, bool is_back = false) {
    svg_ += str_cat("<path d=\"M", x, ' ', y, 'L', to_x, ' ', to_y, "\" class=\"",
                    (is_back ? "back" : "line"), "\" marker-end=\"url(#",
                    (is_back ? "back" : "tip"), ")\"/>\n");
  }
  // Draws an arrow that bends towards a point.
  void curve(int x, int y, int by_x, int by_y, int to_x, int to_y) {
    svg_ += str_cat("<path d=\"M", x, ' ', y, 'Q', by_x, ' ', by_y, ' ', to_x, ' ', to_y,
                    "\" class=\"line\" marker-end=\"url(#tip)\"/>\n");
  }
  void save(const std::string& path) {
    svg_ += "</svg>\n";
    std::ofstream file(path);
    file << svg_ << std::flush;
    if (!file) throw FileError("cannot write picture '" + path + "'");
  }

 private:
  std::string svg_;
};

// Draws the keys (columns) that each query (row) attends to, for each kind of mask.
Drawing masks() {
  constexpr int cell = 18, size = 6, gap = 44, left = 48;
  struct Kind {
    const char *name, *code;
    std::function<bool(int query, int key)> sees;
  };
  const Kind kinds[] = {
      {"no mask", "{}", [](int, int) { return true; }},
      {"length 4", "ValidLens{4}", [](int, int key) { return key < 4; }},
      {"causal", "{.causal = true}", [](int query, int key) { return key <= query; }},
      {"both", "{ValidLens{4}, true}", [](int query, int key) { return key <= query && key < 4; }},
      {"a length for each query", "ValidLens(tensor)",
       [](int query, int key) { return key < (5 * query + 3) % 7; }},
  };
  Drawing drawing(left + 5 * size * cell + 5 * gap, 200);
  int x = left;
  for (const Kind& kind : kinds) {
    drawing.text(x + size * cell / 2, 20, kind.name);
    for (int query = 0; query < size; ++query)
      for (int key = 0; key < size; ++key)
        drawing.box(x + key * cell, 34 + query * cell, cell, cell,
                    kind.sees(query, key) ? "on" : "off");
    drawing.text(x + size * cell / 2, 34 + size * cell + 22, kind.code, "code");
    x += size * cell + gap;
  }
  drawing.text(20, 38 + size * cell / 2, "query", "grey");
  drawing.text(left + size * cell / 2, 34 + size * cell + 42, "key", "grey");
  return drawing;
}

// Draws sequences of different lengths as one tensor.
Drawing padding() {
  const std::vector<std::vector<const char*>> words = {
      {"the", "warp", "is", "fixed"}, {"weave", "on"}, {"the", "weft", "moves"}};
  constexpr int width = 64, height = 28;
  Drawing drawing(470, 150);
  for (int row = 0; row < 3; ++row) {
    const auto& sentence = words[static_cast<std::size_t>(row)];
    const int y = 34 + row * (height + 4);
    for (int column = 0; column < 4; ++column) {
      const bool is_token = column < std::ssize(sentence);
      drawing.box(70 + column * width, y, width - 4, height, is_token ? "box" : "off");
      drawing.text(70 + column * width + width / 2 - 2, y + 19,
                   is_token ? sentence[static_cast<std::size_t>(column)] : "pad",
                   is_token ? "" : "grey");
    }
    drawing.text(400, y + 19, str_cat(sentence.size()), "code");
  }
  drawing.text(196, 22, "tokens [3, 4]");
  drawing.text(400, 22, "valid_lens [3]");
  drawing.text(34, 34 + 48, "batch", "grey");
  drawing.text(196, 146, "time", "grey");
  return drawing;
}

// Draws the records of y = x · w and the path of the gradient.
Drawing tape() {
  Drawing drawing(620, 190);
  drawing.text(70, 62, "values");
  drawing.text(70, 134, "the tape");
  drawing.box(130, 40, 90, 34);
  drawing.text(175, 62, "x = 2");
  drawing.box(270, 40, 90, 34);
  drawing.text(315, 62, "w = 3");
  drawing.box(450, 40, 110, 34);
  drawing.text(505, 62, "y = x · w = 6");
  drawing.arrow(360, 57, 448, 57);
  drawing.curve(175, 38, 340, 2, 480, 38);
  drawing.text(175, 94, "constant: no record", "grey");
  drawing.box(270, 112, 90, 34);
  drawing.text(315, 134, "0 parameter");
  drawing.box(450, 112, 110, 34);
  drawing.text(505, 134, "1 multiply");
  drawing.arrow(315, 74, 315, 110);
  drawing.arrow(505, 74, 505, 110);
  drawing.arrow(448, 129, 364, 129, true);
  drawing.text(405, 120, "dy · x = 2", "orange");
  drawing.arrow(600, 129, 564, 129, true);
  drawing.text(596, 120, "dy = 1", "orange");
  drawing.text(315, 172, "adds to w.grad()", "orange");
  return drawing;
}

int main(int argc, char** argv) try {
  const std::string folder = argc > 1 ? argv[1] : ".";
  masks().save(folder + "/masks.svg");
  padding().save(folder + "/padding.svg");
  tape().save(folder + "/tape.svg");
} catch (const Error& error) {
  std::cerr << "pictures: " << error.what() << '\n';
  return 1;
}
