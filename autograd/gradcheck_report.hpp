// GradCheckReport: what gradcheck found, parameter by parameter.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "weft/autograd/shape.hpp"

namespace weft {

// What was found for one parameter: its worst element, and how many were compared. Along random
// directions, read "direction" for "element".
struct GradCheckEntry {
  std::string name;
  Shape shape;
  bool along_directions = false;
  Index checked = 0;
  Index failed = 0;
  // Elements where the two one-sided differences disagree: a kink, such as relu's at 0, is near,
  // and the numeric gradient means little.
  Index near_kinks = 0;

  // The worst element: its place in row-major order, and what was found there.
  Index index = 0;
  double analytic = 0.0;
  double numeric = 0.0;
  double absolute_error = 0.0;
  // |analytic - numeric| / max(|analytic|, |numeric|)
  double relative_error = 0.0;
  // The absolute error in units of what is allowed: above 1 fails; infinite for NaN.
  double severity = 0.0;

  // Where the worst element is: "[1, 2]", "direction 3".
  std::string position() const;
};

struct GradCheckReport {
  std::vector<GradCheckEntry> entries;

  // True when nothing failed.
  bool passed() const;
  // Elements (or directions) compared.
  Index checked() const;
  // The entry with the largest severity. Throws Error when there is none.
  const GradCheckEntry& worst() const;
};

// A table, a line a parameter: name, shape, checked, worst element with its index, both gradients
// and errors, kinks.
std::ostream& operator<<(std::ostream& out, const GradCheckReport& report);

}  // namespace weft
