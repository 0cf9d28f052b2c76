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

// Of the differences, and of what is checked.
struct GradCheckOptions {
  // The step of the central differences, > 0, times max(1, |x|) for an element x of a parameter, so
  // that it is not lost in the rounding of a large one.
  double eps = 1e-6;
  // An element passes if |analytic - numeric| ≤ atol + rtol · |numeric|, except if the error
  // exceeds rtol · |numeric| and differences of steps of eps, 10 eps and 100 eps agree that it is
  // one: atol is for gradients that differences cannot resolve (see GradCheckEntry::unresolved).
  // NaN never passes.
  double atol = 1e-5;
  double rtol = 1e-3;  // see atol
  // 0 checks every element of every parameter. Otherwise the number of random directions per
  // parameter, each checked by one directional derivative: fast, for large models.
  Index directions = 0;
  // Whether the tape trains: dropout is on, with masks fixed by the seed.
  bool training = true;
  std::uint64_t seed = 1;  // of dropout, directions and the upstream gradient
};

// The result for one parameter: its worst element, and the numbers of elements compared. With
// random directions, each direction counts as an element.
struct WEFT_API GradCheckEntry {
  std::string name;               // of the parameter
  Shape shape;                    // of the parameter
  bool along_directions = false;  // instead of elements
  // True when the result depends on the parameter: backward added to its gradient.
  bool reached = false;
  Index checked = 0;  // elements
  Index failed = 0;   // elements beyond the tolerance
  // Elements where the two one-sided differences disagree: they are near a kink, such as relu's at
  // 0, and the numeric gradient is unreliable.
  Index near_kinks = 0;
  // Elements that passed by `atol` alone. Their gradients are too small, next to the rounding of
  // the result, for the check to say that they are right: a wrong sign would pass. Multiply the
  // result by a larger number, or check in a place where the gradient is larger.
  Index unresolved = 0;

  // The worst element: its index in row-major order, its gradients and their difference.
  Index index = 0;
  double analytic = 0.0;        // the gradient of the worst element by backward
  double numeric = 0.0;         // the gradient of the worst element by differences
  double absolute_error = 0.0;  // |analytic - numeric|
  // |analytic - numeric| / max(|analytic|, |numeric|)
  double relative_error = 0.0;
  // The absolute error divided by the tolerance: above 1 fails; infinite for NaN.
  double severity = 0.0;

  // The position of the worst element: "[1, 2]", "direction 3".
  std::string position() const;
};

// The result of `gradcheck`.
struct WEFT_API GradCheckReport {
  std::vector<GradCheckEntry> entries;  // one for each parameter

  // True when no element failed, at least one was compared, and every parameter reached the result.
  bool passed() const;
  // The number of elements (or directions) compared.
  Index checked() const;
  // The entry with the largest severity. Throws Error when there is none.
  const GradCheckEntry& worst() const;
};

// A table with one line per parameter: name, shape, checked, worst element with its index, both
// gradients and errors, kinks.
WEFT_API std::ostream& operator<<(std::ostream& out, const GradCheckReport& report);

// Compares the gradients of `function`, computed by backward, with central differences of its
// result:
//   df/dx ≈ (f(x + h) - f(x - h)) / (2 h), with h = eps · max(1, |x|)
// The result may have any shape: it is multiplied by a fixed random upstream gradient. Each
// gradient is computed twice, once into an empty gradient and once added to existing values, and
// the larger error counts. The parameters are restored and their gradients cleared, also after an
// exception. A check that compares nothing, or with a parameter that the result does not depend
// on, does not pass. Throws NonFiniteError when the result is not finite, and ValueError when it
// differs from call to call, for options outside their ranges and for an empty function.
//   const auto loss = [&](Tape<double>& tape) { return sum(tanh(tape.parameter(w))); };
//   const bool passed = gradcheck(loss, {{"w", &w}}).passed();
WEFT_API GradCheckReport gradcheck(const std::function<Var<double>(Tape<double>&)>& function,
                                   const NamedParameters<double>& parameters,
                                   const GradCheckOptions& options = {});

}  // namespace weft
