// The HTML page that shows training runs, and conversions to JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "weft/train/report/report_section.hpp"
#include "train/report/internal/curve.hpp"

namespace weft {

using Json = nlohmann::ordered_json;

// Returns the first `most_bytes` bytes of a string, without splitting a character, and a note on
// how much was omitted.
std::string beginning_of(const std::string& text, std::size_t most_bytes);

// Parses JSON. Returns a discarded value if the string is not JSON or is nested deeper than any
// record, because other functions of the library are recursive.
Json json_in(const std::string& text);
// Returns JSON on one line. Bytes that are not UTF-8 are replaced.
std::string text_of(const Json& json);
Json json_of(const ReportSection& section);
Json json_of(const std::vector<NamedCurve>& curves);

// Returns an HTML page that needs no other file. `runs` is a JSON list of the records of runs (see
// RunReport), each with "curves".
//
// Charts are SVG, drawn by the script in page/. The chart libraries that Debian 12 packages do not
// fit: Chart.js (200 kB) draws bitmaps, which tests cannot inspect and which ignore a printer's
// colours; dygraphs has one fixed style; D3 is a version of 2016 without charts. uPlot is not
// packaged.
std::string page_of(const std::string& runs);

}  // namespace weft
