// gradcheck: compares the gradients of a function with finite differences.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Options of gradcheck: the differences, the tolerances and what is checked.
struct GradCheckOptions {
  // The step of the central differences, > 0. For an element x of a parameter, the step is
  // eps · max(1, |x|), so that it is not lost in the rounding of a large x.
  double eps = 1e-6;
  // An element passes if |analytic - numeric| ≤ atol + rtol · |numeric|. NaN never passes. `atol`
  // is meant for gradients that differences cannot resolve (see GradCheckEntry::unresolved). If an
  // element passes only thanks to `atol`, differences with steps of eps, 10 eps and 100 eps are
  // compared. If they agree that its gradient is wrong, the element fails.
  double atol = 1e-5;
  double rtol = 1e-3;  // relative tolerance; see atol
  // 0 checks every element of every parameter. Otherwise, the number of random directions per
  // parameter. Each direction is checked by one directional derivative, which is fast for large
  // models.
  Index directions = 0;
  // Whether the tape is in training mode, where dropout is on, with masks fixed by the seed.
  bool training = true;
  std::uint64_t seed = 1;  // seed of dropout, directions and upstream gradient
};

// The result for one parameter: counts of the compared elements, and the worst element. With random
// directions, each direction counts as an element.
struct WEFT_API GradCheckEntry {
  std::string name;               // name of the parameter
  Shape shape;                    // shape of the parameter
  bool along_directions = false;  // true if directions were checked, not elements
  // True if the result depends on the parameter, that is, if backward added to its gradient.
  bool reached = false;
  Index checked = 0;  // number of elements compared
  Index failed = 0;   // number of elements beyond the tolerance
  // The number of elements at which the two one-sided differences disagree. Such an element is near
  // a kink, such as relu's at 0, and its numeric gradient is unreliable.
  Index near_kinks = 0;
  // The number of elements that passed only thanks to `atol`. Compared with the rounding of the
  // result, their gradients are too small to be confirmed: a wrong sign would pass. Multiply the
  // result by a larger number, or check at a point where the gradient is larger.
  Index unresolved = 0;

  // The worst element's index in row-major order, or the worst direction's number.
  Index index = 0;
  double analytic = 0.0;        // gradient of the worst element, by backward
  double numeric = 0.0;         // gradient of the worst element, by differences
  double absolute_error = 0.0;  // |analytic - numeric|
  // |analytic - numeric| / max(|analytic|, |numeric|)
  double relative_error = 0.0;
  // The absolute error divided by the tolerance. A value above 1 fails; NaN counts as infinite.
  double severity = 0.0;

  // Returns the position of the worst element, as "[1, 2]" or "direction 3".
  std::string position() const;
};

// The result of `gradcheck`.
struct WEFT_API GradCheckReport {
  std::vector<GradCheckEntry> entries;  // one entry for each parameter

  // Returns true if at least one element was compared, no element failed, and the result depends on
  // every parameter.
  bool passed() const;
  // Returns the number of elements (or directions) compared.
  Index checked() const;
  // Returns the entry with the largest severity. Throws Error if there are no entries.
  const GradCheckEntry& worst() const;
};

// Prints a table with one line per parameter: name, shape, counts of elements checked and failed,
// the worst element with both gradients and errors, and kinks. A summary and warnings follow.
WEFT_API std::ostream& operator<<(std::ostream& out, const GradCheckReport& report);

// Compares the gradients of `function`, computed by backward, with central differences of its
// result:
//   df/dx ≈ (f(x + h) - f(x - h)) / (2 h), with h = eps · max(1, |x|)
// The result may have any shape: it is multiplied by a fixed random upstream gradient. Each
// gradient is computed twice, once into an empty gradient and once added to existing values, and
// the larger error counts. Afterwards, even after an exception, the parameters are restored and
// their gradients cleared. A check does not pass if it compares nothing or if the result does not
// depend on one of the parameters. Throws NonFiniteError if the result is not finite. Throws
// ValueError if the result differs from call to call, for options out of range and for an empty
// function. Throws Error for a null pointer or a destroyed parameter.
//   const auto loss = [&](Tape<double>& tape) { return sum(tanh(tape.parameter(w))); };
//   const bool passed = gradcheck(loss, {{"w", &w}}).passed();
WEFT_API GradCheckReport gradcheck(const std::function<Var<double>(Tape<double>&)>& function,
                                   const NamedParameters<double>& parameters,
                                   const GradCheckOptions& options = {});

}  // namespace weft
