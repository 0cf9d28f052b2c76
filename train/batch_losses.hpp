// BatchLosses: a data source combined with a loss function, independent of the batch type.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"
#include "weft/train/data/data_source.hpp"

namespace weft {

// The mean loss of a batch, a scalar, and its weight when the losses of several batches are
// averaged: the number of labels, or the sum of weights, that the mean divides by. Converts from a
// Var. If `weight` is not set, it is the number of labels that `cross_entropy` or
// `linear_cross_entropy` divided by, even if their result is not part of the loss; without such an
// operation, it is labels_of(batch). A loss of weight 0 contributes nothing, even if it is NaN.
//   const Var errors = x * x;
//   const Var mask = tape.constant(X);  // 0 or 1 for each element
//   const WeightedLoss loss(sum(mask * errors) / sum(mask), sum(mask).item());
template <class T>
struct WeightedLoss : Var<T> {
  // Creates a loss from a mean loss, [], and its weight.
  WeightedLoss(Var<T> mean, std::optional<double> loss_weight = {})
      : Var<T>(std::move(mean)), weight(loss_weight) {}
  std::optional<double> weight;  // ≥ 0 and finite
};

// Returns the mean of losses [...] weighted by `weights` of the same shape (Keras's sample_weight),
//   loss = Σ_i weights_i losses_i / Σ_i weights_i
// or 0 if all weights are 0. Its weight is the sum of the weights. Throws ShapeError if the shapes
// differ, and ValueError unless the weights are finite and ≥ 0.
//   const auto losses = cross_entropy(logits, targets, {.reduction = Reduction::none});
//   const WeightedLoss<float> loss = weighted_mean(losses, X);
template <class T>
WEFT_API WeightedLoss<T> weighted_mean(const Var<T>& losses, const Tensor<T>& weights);

// A function that returns the mean loss over the labels of a batch or of a part of a batch. It is
// called from several threads at once if batches are computed in parts.
template <class T, class B>
using LossFunction = std::function<WeightedLoss<T>(Tape<T>& tape, const B& batch)>;

// Returns the weight of a loss just computed on `tape`: `given` if set, otherwise the default of
// WeightedLoss, where `labels` is labels_of(batch). Throws ValueError if `given` is negative or not
// finite, and, if `given` is not set, if operations of the loss divided by different numbers of
// labels.
template <class T>
WEFT_API double loss_weight(const std::optional<double>& given, const Tape<T>& tape, Index labels);

// Limits of the number of parts that a batch is computed in. Each part has at least one example.
struct PartLimits {
  // Converts from a number of parts, ≥ 1.
  PartLimits(Index most_parts = 1, Index min_part_positions = 0)
      : most(most_parts), min_positions(min_part_positions) {}
  // Returns the number of parts for a batch.
  Index parts(Index examples, Index positions) const {
    const Index large_enough = min_positions > 0 ? positions / min_positions : most;
    return std::max<Index>(1, std::min({most, examples, large_enough}));
  }
  Index most;           // maximum number of parts
  Index min_positions;  // minimum number of positions per part if there are several
};

// Returns the limits for TrainerOptions::parts, `parts`.
template <class T>
WEFT_API PartLimits part_limits(Index parts, const Module<T>& model);

// A loaded batch.
template <class T>
struct LoadedBatch {
  Index labels = 0;  // labels_of(batch)
  Index parts = 1;   // number of parts that the batch is computed in
  // Returns the mean loss of a part, 0 ≤ part < parts, with its weight set.
  std::function<WeightedLoss<T>(Tape<T>& tape, Index part)> loss = {};
};

// A data source combined with a loss function, independent of the batch type.
template <class T>
struct BatchLosses {
  std::function<Index()> num_batches;  // returns the number of batches per epoch
  // Loads a batch of an epoch, to be computed in as many parts as `limits` allow.
  std::function<LoadedBatch<T>(std::int64_t epoch, Index position, const PartLimits& limits)> load;
  std::uint64_t fingerprint = 0;  // DataSource::fingerprint
  const char* unit = "labels";    // label_unit of the batch type
};

// Throws ValueError, naming `what`, if `parts` > 1 but batches of type B cannot be split.
template <class B>
void check_parts(const char* what, Index parts) {
  if (parts > 1 && !has_parts<B>)
    fail<ValueError>(what, "1 for batches without num_examples and part_of", parts);
}

// Combines a data source and a loss function. `source` must outlive the result.
template <class T, class B>
BatchLosses<T> batch_losses(DataSource<B>& source, LossFunction<T, B> loss) {
  const auto load = [&source, loss = std::move(loss)](std::int64_t epoch, Index position,
                                                      const PartLimits& limits) {
    const auto batch = std::make_shared<const B>(source.batch(epoch, position));
    LoadedBatch<T> loaded{.labels = labels_of(*batch)};
    if constexpr (has_parts<B>)
      if (limits.most > 1) loaded.parts = limits.parts(num_examples(*batch), positions_of(*batch));
    loaded.loss = [batch, loss, parts = loaded.parts](Tape<T>& tape, Index part) {
      const auto weighted_loss = [&](const B& examples) {
        const Index labels = labels_of(examples);
        WeightedLoss<T> mean = loss(tape, examples);
        mean.weight = loss_weight(mean.weight, tape, labels);
        return mean;
      };
      if (parts > 1)
        if constexpr (has_parts<B>) {
          const Index count = num_examples(*batch);
          return weighted_loss(part_of(*batch, part * count / parts, (part + 1) * count / parts));
        }
      return weighted_loss(*batch);
    };
    return loaded;
  };
  return {[&source] { return source.num_batches(); }, load, source.fingerprint(), label_unit<B>};
}

}  // namespace weft
