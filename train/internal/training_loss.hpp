// mean_training_loss: the loss on training data that validations are compared with.
#pragma once

#include "weft/train/batch_losses.hpp"
#include "weft/train/parallel/process_group.hpp"

namespace weft {

// Returns the mean loss of a tenth of an epoch's batches, at most eight, computed without dropout
// like validations. Returns NaN if they have no labels. `processes` may be null.
template <class T>
double mean_training_loss(const BatchLosses<T>& losses, std::int64_t epoch, const PartLimits& parts,
                          ProcessGroup* processes);

extern template double mean_training_loss(const BatchLosses<float>&, std::int64_t,
                                          const PartLimits&, ProcessGroup*);
extern template double mean_training_loss(const BatchLosses<double>&, std::int64_t,
                                          const PartLimits&, ProcessGroup*);

}  // namespace weft
