// gradcheck: are the gradients of a function what finite differences say they are?
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "autograd/tape.hpp"

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

// What was found for one parameter. `index`, `analytic`, `numeric` are those of its worst element
// (of its worst direction when directions are checked; then `index` counts directions).
struct GradCheckEntry {
  std::string name;
  Shape shape;
  Index checked = 0;
  Index failed = 0;
  // Elements where the two one-sided differences disagree: a kink, such as relu's at 0, is near,
  // and the numeric gradient means little.
  Index near_kinks = 0;
  Index index = 0;
  double analytic = 0.0;
  double numeric = 0.0;
  double absolute_error = 0.0;
  double relative_error = 0.0;
};

struct GradCheckReport {
  std::vector<GradCheckEntry> entries;

  bool passed() const;
  // Elements (or directions) compared.
  Index checked() const;
  // The entry with the largest error relative to its tolerance. Throws Error when there is none.
  const GradCheckEntry& worst() const;
};

// A table, a line a parameter: name, shape, checked, worst element with its index, both gradients
// and errors, kinks.
std::ostream& operator<<(std::ostream& out, const GradCheckReport& report);

// Compares the gradients that `function`'s tape gives with central differences of its result. The
// result may have any shape: it is multiplied with a fixed random upstream gradient. Gradients are
// checked as additions to values that were there before. The parameters are left as they were,
// their gradients cleared. Throws ValueError when a parameter or the result is not finite or eps is
// not positive.
GradCheckReport gradcheck(const std::function<Var<double>(Tape<double>&)>& function,
                          const NamedParameters<double>& parameters,
                          const GradCheckOptions& options = {});

}  // namespace weft
