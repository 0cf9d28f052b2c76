// The HTML page that shows runs, and its JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "weft/train/report/report_section.hpp"
#include "train/report/internal/curve.hpp"

namespace weft {

using Json = nlohmann::ordered_json;

// Returns the beginning of a string in whole characters, and how much was omitted.
std::string beginning_of(const std::string& text, std::size_t most_bytes);

// Parses JSON. Returns a discarded value if the string is not JSON or is nested deeper than any
// record, because other functions of the library are recursive.
Json json_in(const std::string& text);
// Returns JSON in one line. Bytes that are not UTF-8 are replaced.
std::string text_of(const Json& json);
Json json_of(const ReportSection& section);
Json json_of(const std::vector<NamedCurve>& curves);

// Returns an HTML page that needs no other file. `runs` is a JSON list of the records of runs (see
// RunReport), each with "curves".
// Charts are SVG by a script of our own, in page/. Of the libraries that Debian 12 packages,
// Chart.js (200 kB) draws pictures, which neither follow a printer's colours nor can be looked at
// by a test, and needs a plugin for zoom that is not packaged; dygraphs is made for one fixed
// style; D3's version is of 2016 and has no charts. uPlot is not packaged.
std::string page_of(const std::string& runs);

}  // namespace weft
