// Prints the report of gradcheck as a table.
#include <algorithm>
#include <array>
#include <iomanip>
#include <numeric>
#include <ostream>

#include "weft/autograd/error.hpp"
#include "weft/autograd/gradcheck.hpp"

namespace weft {
namespace {

constexpr std::size_t columns = 10;
using Line = std::array<std::string, columns>;

std::string scientific(double value, int digits) {
  return concatenate_text(std::scientific, std::setprecision(digits), value);
}

Line line_of(const GradCheckEntry& entry) {
  Line line{entry.name, entry.shape.to_string(), std::to_string(entry.checked),
            std::to_string(entry.failed)};
  if (entry.checked > 0) {
    line[4] = entry.position();
    line[5] = scientific(entry.analytic, 6);
    line[6] = scientific(entry.numeric, 6);
    line[7] = scientific(entry.absolute_error, 1);
    line[8] = scientific(entry.relative_error, 1);
  }
  line[9] = std::to_string(entry.near_kinks);
  return line;
}

template <class Member>
Index total(const GradCheckReport& report, Member member) {
  return std::accumulate(
      report.entries.begin(), report.entries.end(), Index{0},
      [member](Index sum, const GradCheckEntry& entry) { return sum + entry.*member; });
}

}  // namespace

std::string GradCheckEntry::position() const {
  if (along_directions) return concatenate_text("direction ", index);
  return shape.position(index);
}

bool GradCheckReport::passed() const { return total(*this, &GradCheckEntry::failed) == 0; }

Index GradCheckReport::checked() const { return total(*this, &GradCheckEntry::checked); }

const GradCheckEntry& GradCheckReport::worst() const {
  if (entries.empty())
    throw Error("gradcheck: expected a report of at least one parameter, got none");
  return *std::max_element(
      entries.begin(), entries.end(),
      [](const GradCheckEntry& a, const GradCheckEntry& b) { return a.severity < b.severity; });
}

std::ostream& operator<<(std::ostream& out, const GradCheckReport& report) {
  std::vector<Line> lines{{"parameter", "shape", "checked", "failed", "worst at", "analytic",
                           "numeric", "abs error", "rel error", "near kinks"}};
  for (const GradCheckEntry& entry : report.entries) lines.push_back(line_of(entry));
  std::array<std::size_t, columns> widths{};
  for (const Line& line : lines)
    for (std::size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], line[i].size());

  const auto is_text = [](std::size_t column) { return column <= 1 || column == 4; };
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < columns; ++i) {
      const std::string padding(widths[i] - line[i].size(), ' ');
      out << (i > 0 ? "  " : "") << (is_text(i) ? line[i] + padding : padding + line[i]);
    }
    out << '\n';
  }

  const Index failed = total(report, &GradCheckEntry::failed);
  out << report.checked() << " gradients compared, ";
  if (failed > 0)
    out << failed << " failed; the worst is " << report.worst().name << " at "
        << report.worst().position() << '\n';
  else
    out << "none failed\n";
  if (const Index kinks = total(report, &GradCheckEntry::near_kinks); kinks > 0)
    out << "warning: " << kinks
        << " near a kink, where one-sided differences disagree and the numeric gradient "
           "is unreliable\n";
  return out;
}

}  // namespace weft
