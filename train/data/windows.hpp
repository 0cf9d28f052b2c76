// WindowBatches: batches of windows of a long sequence, for language models and forecasts.
#pragma once

#include <cstdint>
#include <memory>

#include "weft/autograd/export.hpp"
#include "weft/train/data/batch_sampler.hpp"
#include "weft/train/data/data_source.hpp"
#include "weft/train/data/rows.hpp"
#include "weft/train/data/tensor_batch.hpp"

namespace weft {

// Options of WindowBatches.
struct WindowOptions {
  // Rows per input; the context length of a language model.
  Index length = 64;
  // The targets of a window that starts at row s are `target_length` rows from row s + offset on.
  // By default, the target of each row is the next row, as for a language model. For a forecast of
  // h steps, set offset to `length` and target_length to h.
  Index offset = 1;
  // Rows per target; 0: `length`.
  Index target_length = 0;
  // Rows from the start of one window to the start of the next; 0: `length`, so that windows do not
  // overlap.
  Index stride = 0;
  // Whether each batch contains windows that start at random rows instead, as in nanoGPT. The
  // number of windows per epoch is the same.
  bool random_starts = false;
  // Windows per batch. One batch of an epoch is smaller if the number of windows is not a multiple
  // of it, unless `drop_last` is set.
  Index batch_size = 32;
  std::uint64_t seed = 0;  // seed for the order or the random starts
  // If false, windows are in order. Has no effect on random starts.
  bool shuffle = true;
  bool drop_last = false;  // see BatchOptions
};

// Batches of inputs [batch, length, …] and targets [batch, target_length, …]. Instances: float,
// double, TokenId.
//   WindowBatches<TokenId> windows(text, {.length = 64});  // text [n]
//   const auto [inputs, targets] = windows.batch(0, 0);    // [32, 64] each
template <class E>
class WEFT_API WindowBatches final : public DataSource<TensorBatch<E>> {
 public:
  // Takes rows [n, …] in memory. Throws ShapeError for a tensor without axes, and ValueError for
  // options outside their ranges and if there are too few rows for one window and its targets.
  WindowBatches(Tensor<E> rows, const WindowOptions& options);
  // Takes rows that are read on demand, for example Hdf5Rows. Throws the same exceptions,
  // ValueError for a null pointer, and any exception thrown by `rows`.
  WindowBatches(std::shared_ptr<const Rows<E>> rows, const WindowOptions& options);

  Index num_batches() const override { return sampler_.num_batches(); }
  TensorBatch<E> batch(std::int64_t epoch, Index position) override;
  std::uint64_t fingerprint() const override { return fingerprint_; }

 private:
  std::shared_ptr<const Rows<E>> rows_;
  WindowOptions options_;
  Index span_;  // rows from the start of a window to the end of its targets
  BatchSampler sampler_;
  std::uint64_t fingerprint_;
};

}  // namespace weft
