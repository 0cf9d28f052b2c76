// Reduction: how a loss combines the losses of its elements.
#pragma once

namespace weft {

// Combines the losses of the elements of a loss function (torch's reduction).
enum class Reduction {
  mean,  // their mean, a scalar []
  sum,   // their sum, a scalar []
  none,  // the losses themselves
};

// Options of losses that are computed element by element.
//   const LossOptions options{.reduction = Reduction::sum};
struct LossOptions {
  Reduction reduction = Reduction::mean;  // how the losses are combined
};

}  // namespace weft
