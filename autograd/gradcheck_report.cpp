#include "weft/autograd/gradcheck_report.hpp"

#include <algorithm>
#include <iomanip>
#include <numeric>
#include <ostream>

#include "weft/autograd/error.hpp"
#include "autograd/internal/text_table.hpp"

namespace weft {
namespace {

std::string scientific(double value, int digits) {
  return concatenate_text(std::scientific, std::setprecision(digits), value);
}

template <class Member>
Index total(const GradCheckReport& report, Member member) {
  return std::accumulate(
      report.entries.begin(), report.entries.end(), Index{0},
      [member](Index sum, const GradCheckEntry& entry) { return sum + entry.*member; });
}

TextTable table_of(const GradCheckReport& report) {
  using enum TextTable::Align;
  TextTable table({left, left, right, right, left, right, right, right, right, right});
  table.add({"parameter", "shape", "checked", "failed", "worst at", "analytic", "numeric",
             "abs error", "rel error", "near kinks"});
  for (const GradCheckEntry& entry : report.entries) {
    std::vector<std::string> line{entry.name, entry.shape.to_string(),
                                  std::to_string(entry.checked), std::to_string(entry.failed)};
    line.resize(9);
    if (entry.checked > 0) {
      line[4] = entry.position();
      line[5] = scientific(entry.analytic, 6);
      line[6] = scientific(entry.numeric, 6);
      line[7] = scientific(entry.absolute_error, 1);
      line[8] = scientific(entry.relative_error, 1);
    }
    line.push_back(std::to_string(entry.near_kinks));
    table.add(std::move(line));
  }
  return table;
}

}  // namespace

std::string GradCheckEntry::position() const {
  return along_directions ? concatenate_text("direction ", index) : shape.position(index);
}

bool GradCheckReport::passed() const {
  return checked() > 0 && total(*this, &GradCheckEntry::failed) == 0 &&
         std::all_of(entries.begin(), entries.end(),
                     [](const GradCheckEntry& entry) { return entry.reached; });
}

Index GradCheckReport::checked() const { return total(*this, &GradCheckEntry::checked); }

const GradCheckEntry& GradCheckReport::worst() const {
  if (entries.empty())
    throw Error("gradcheck: expected a report of at least one parameter, got none");
  return *std::max_element(
      entries.begin(), entries.end(),
      [](const GradCheckEntry& a, const GradCheckEntry& b) { return a.severity < b.severity; });
}

std::ostream& operator<<(std::ostream& out, const GradCheckReport& report) {
  out << table_of(report).text();
  const Index failed = total(report, &GradCheckEntry::failed);
  out << report.checked() << " gradients compared, ";
  if (failed > 0)
    out << failed << " failed; the worst is " << report.worst().name << " at "
        << report.worst().position() << '\n';
  else
    out << "none failed\n";
  for (const GradCheckEntry& entry : report.entries)
    if (!entry.reached) out << "the result does not depend on " << entry.name << '\n';
  if (const Index kinks = total(report, &GradCheckEntry::near_kinks); kinks > 0)
    out << "warning: " << kinks
        << " near a kink, where one-sided differences disagree and the numeric gradient "
           "is unreliable\n";
  return out;
}

}  // namespace weft
