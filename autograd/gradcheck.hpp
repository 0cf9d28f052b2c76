// gradcheck: compares the gradients of a function with finite differences.
#pragma once

#include <cstdint>
#include <functional>

#include "weft/autograd/export.hpp"
#include "weft/autograd/gradcheck_report.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

struct GradCheckOptions {
  // The step of the central differences, > 0.
  double eps = 1e-6;
  // An element passes when |analytic - numeric| ≤ atol + rtol · |numeric|. NaN never passes.
  double atol = 1e-5;
  double rtol = 1e-3;
  // 0 checks every element of every parameter. Otherwise the number of random directions per
  // parameter, each checked by one directional derivative: fast, for large models.
  Index directions = 0;
  // Whether the tape trains: dropout is on, with masks fixed by the seed.
  bool training = true;
  std::uint64_t seed = 1;
};

// Compares the gradients of `function`, computed by backward, with central differences of its
// result. The result may have any shape: it is multiplied by a fixed random upstream gradient. Each
// gradient is computed twice, once into an empty gradient and once added to existing values, and
// the larger error counts. The parameters are restored and their gradients cleared, also after an
// exception. A check that compares nothing, or with a parameter that the result does not depend on,
// does not pass. Throws NonFiniteError when the result is not finite, and ValueError when it
// differs from call to call, for options outside their ranges and for an empty function.
WEFT_API GradCheckReport gradcheck(const std::function<Var<double>(Tape<double>&)>& function,
                                   const NamedParameters<double>& parameters,
                                   const GradCheckOptions& options = {});

}  // namespace weft
