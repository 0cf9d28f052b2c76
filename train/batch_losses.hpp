// BatchLosses: a data source with the function of its batches that is trained on or evaluated,
// whatever the type of the batches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/train/data/data_source.hpp"

namespace weft {

// Returns the mean loss over the labels of a batch, or of a part of one: a scalar. Called
// concurrently when a batch is computed in parts.
template <class T, class B>
using LossFunction = std::function<Var<T>(Tape<T>& tape, const B& batch)>;

// A batch that was read.
template <class T>
struct LoadedBatch {
  Index labels = 0;  // see labels_of
  Index parts = 1;   // in which it is computed
  // The mean loss of a part, times its share of `all_labels`, the labels of all batches of an
  // update: these add up to the mean loss of the update.
  std::function<Var<T>(Tape<T>& tape, Index part, Index all_labels)> loss = {};
};

// A data source with its loss, whatever the type of its batches.
template <class T>
struct BatchLosses {
  std::function<Index()> num_batches;  // of an epoch
  // Reads a batch of an epoch, to be computed in at most so many parts.
  std::function<LoadedBatch<T>(std::int64_t epoch, Index position, Index most_parts)> load;
  std::uint64_t fingerprint = 0;  // of the data source
  const char* unit = "labels";    // see label_unit
};

// Throws ValueError, naming `what`, unless batches of type B can be computed in `parts` parts.
template <class B>
void check_parts(const char* what, Index parts) {
  if (parts > 1 && !has_parts<B>)
    fail<ValueError>(what, "1 for batches without num_examples and part_of", parts);
}

// The loss of the batches of a source, which must outlive the result.
template <class T, class B>
BatchLosses<T> batch_losses(DataSource<B>& source, LossFunction<T, B> loss) {
  const auto load = [&source, loss = std::move(loss)](std::int64_t epoch, Index position,
                                                      Index most_parts) {
    const auto batch = std::make_shared<const B>(source.batch(epoch, position));
    LoadedBatch<T> loaded{.labels = labels_of(*batch)};
    if constexpr (has_parts<B>)
      if (most_parts > 1) loaded.parts = std::clamp<Index>(num_examples(*batch), 1, most_parts);
    loaded.loss = [batch, loss, parts = loaded.parts](Tape<T>& tape, Index part, Index all_labels) {
      const auto share_of_loss = [&](const B& examples) {
        const double share =
            static_cast<double>(labels_of(examples)) / static_cast<double>(all_labels);
        const Var<T> mean = loss(tape, examples);
        return share == 1.0 ? mean : scale(mean, share);
      };
      if constexpr (has_parts<B>)
        if (parts > 1) {
          const Index count = num_examples(*batch);
          return share_of_loss(part_of(*batch, part * count / parts, (part + 1) * count / parts));
        }
      return share_of_loss(*batch);
    };
    return loaded;
  };
  return {[&source] { return source.num_batches(); }, load, source.fingerprint(), label_unit<B>};
}

}  // namespace weft
