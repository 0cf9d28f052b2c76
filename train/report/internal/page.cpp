#include "train/report/internal/page.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iomanip>

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"
#include "train/files/internal/json.hpp"
#include "train/report/internal/page_parts.hpp"

namespace weft {
namespace {

// Rounds to six digits, as many as the page shows.
double rounded(double value) {
  const std::string text = str_cat(std::setprecision(6), value);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Returns a character for each weight: one of base64's 64 digits for the range from 0 to 1.
std::string levels_of(const Tensor<float>& weights) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string levels;
  for (const float weight : weights)
    levels += digits[std::lround(63.0f * (weight >= 0.0f ? std::min(weight, 1.0f) : 0.0f))];
  return levels;
}

Json maps_of(const ReportBlock& block) {
  constexpr Index most_weights = 100'000;
  Json maps = Json::array();
  Index weights = 0;
  for (const AttentionMap& map : block.maps) {
    if ((weights += map.weights.size()) > most_weights) break;
    maps.push_back({{"title", map.title}, {"levels", levels_of(map.weights)}});
  }
  return maps;
}

Json json_of(const ReportBlock& block) {
  constexpr std::size_t most_bytes = 20'000, most_rows = 200, most_classes = 100;
  Json json{{"title", beginning_of(block.title, most_bytes)}};
  switch (block.kind) {
    case ReportBlock::Kind::text:
    case ReportBlock::Kind::preformatted:
      json["kind"] = block.kind == ReportBlock::Kind::text ? "text" : "preformatted";
      json["text"] = beginning_of(block.text, most_bytes);
      break;
    case ReportBlock::Kind::table:
      json["kind"] = "table";
      json["columns"] = block.columns;
      json["cells"] = Json::array();
      for (std::size_t i = 0; i < std::min(block.cells.size(), most_rows); ++i)
        json["cells"].push_back(block.cells[i]);
      json["left_out"] = block.cells.size() - json["cells"].size();
      break;
    case ReportBlock::Kind::confusion:
    case ReportBlock::Kind::flame: {
      const bool is_flame = block.kind == ReportBlock::Kind::flame;
      json["kind"] = is_flame ? "flame" : "confusion";
      const std::size_t rows =
          is_flame ? block.rows.size() : std::min(block.rows.size(), most_classes);
      json["rows"] = std::vector<std::string>(block.rows.data(), block.rows.data() + rows);
      json["cells"] = Json::array();
      for (std::size_t i = 0; i < rows; ++i) {
        Json cells = Json::array();
        for (std::size_t k = 0; k < (is_flame ? 4 : rows); ++k)
          cells.push_back(rounded(block.counts(static_cast<Index>(i), static_cast<Index>(k))));
        json["cells"].push_back(std::move(cells));
      }
      json["left_out"] = block.rows.size() - rows;
      break;
    }
    case ReportBlock::Kind::attention:
      json["kind"] = "attention";
      json["rows"] = block.rows;
      json["columns"] = block.columns;
      json["maps"] = maps_of(block);
      json["left_out"] = block.maps.size() - json["maps"].size();
  }
  return json;
}

Json json_of(const Curve& curve) {
  Json x = Json::array(), y = x, low = x, high = x, bad = x;
  bool is_exact = true;
  for (const Curve::Bucket& bucket : curve.buckets()) {
    if (bucket.finite < bucket.values) bad.push_back(bucket.step);
    if (bucket.finite == 0) continue;
    x.push_back(bucket.step);
    y.push_back(rounded(bucket.sum / static_cast<double>(bucket.finite)));
    low.push_back(rounded(bucket.lowest));
    high.push_back(rounded(bucket.highest));
    is_exact = is_exact && bucket.values == 1;
  }
  Json json{{"x", std::move(x)}, {"y", std::move(y)}};
  if (!is_exact) {
    json["low"] = std::move(low);
    json["high"] = std::move(high);
  }
  if (!bad.empty()) json["bad"] = std::move(bad);
  return json;
}

}  // namespace

std::string beginning_of(const std::string& text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  std::size_t end = most_bytes;
  while (end > 0 && !starts_character(text[end])) --end;
  return text.substr(0, end) + str_cat("… (", text.size() - end, " more bytes)");
}

Json json_in(const std::string& text) {
  try {
    return read_json<Json>(text);
  } catch (const ValueError&) {
    return Json(Json::value_t::discarded);
  }
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json json_of(const ReportSection& section) {
  Json blocks = Json::array();
  for (const ReportBlock& block : section.blocks()) blocks.push_back(json_of(block));
  return blocks;
}

Json json_of(const std::vector<NamedCurve>& curves) {
  Json json = Json::object();
  for (const auto& [name, curve] : curves) json[name] = json_of(curve);
  return json;
}

std::string page_of(const std::string& runs) {
  std::string page = str_cat(page_beginning, "<style>\n", page_style,
                             "</style>\n</head>\n<body>\n<noscript>This page is drawn by "
                             "its script.</noscript>\n<main></main>\n",
                             "<script type=\"application/json\" id=\"runs\">");
  // Escapes '<', which JSON contains only in strings, so that no string ends the script.
  for (const char c : runs)
    if (c == '<')
      page += "\\u003c";
    else
      page += c;
  page.append("</script>\n<script>\n").append(page_script).append("</script>\n</body>\n</html>\n");
  return page;
}

}  // namespace weft
