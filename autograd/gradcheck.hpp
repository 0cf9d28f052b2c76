// gradcheck: are the gradients of a function what finite differences say they are?
#pragma once

#include <cstdint>
#include <functional>

#include "weft/autograd/gradcheck_report.hpp"
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
