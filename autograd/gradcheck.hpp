// gradcheck: are the gradients of a function what finite differences say they are?
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "weft/autograd/tape.hpp"

namespace weft {

struct GradCheckOptions {
  // The step of the central differences.
  double eps = 1e-6;
  // An element passes when |analytic - numeric| ≤ atol + rtol · |numeric|. NaN never passes.
  double atol = 1e-5;
  double rtol = 1e-3;
  // 0: every element of every parameter. Otherwise this many random directions a parameter, each
  // one directional derivative: fast, for large models.
  Index directions = 0;
  // Dropout on, with masks held fixed by the seed.
  bool training = true;
  std::uint64_t seed = 1;
};

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

// Compares the gradients that `function`'s tape gives with central differences of its result. The
// result may have any shape: it is multiplied with a fixed random upstream gradient. Each gradient
// is worked out twice, as a first one and as an addition to values that were there before, and the
// worse of the two counts. The parameters are left as they were, their gradients cleared, also when
// an exception passes through. Throws NonFiniteError when the result is not finite, and ValueError
// when it differs from call to call or eps is not positive.
GradCheckReport gradcheck(const std::function<Var<double>(Tape<double>&)>& function,
                          const NamedParameters<double>& parameters,
                          const GradCheckOptions& options = {});

}  // namespace weft
