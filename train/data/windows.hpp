// WindowBatches: batches of windows of a long sequence, to predict what follows.
#pragma once

#include <cstdint>
#include <memory>

#include "weft/autograd/export.hpp"
#include "weft/train/data/batch_sampler.hpp"
#include "weft/train/data/data_source.hpp"
#include "weft/train/data/rows.hpp"
#include "weft/train/data/tensor_batch.hpp"

namespace weft {

// Of WindowBatches.
struct WindowOptions {
  // The rows of an input; a language model's context.
  Index length = 64;
  // The targets of a window that starts at row s are rows s + offset … s + offset + target_length -
  // 1. By default each row's next one, as for a language model; with an offset of `length` and a
  // target_length of h, the h rows that follow the window, as for a forecast.
  Index offset = 1;
  // 0: `length`.
  Index target_length = 0;
  // The rows from the start of a window to the start of the next one; 0: `length`, so that an epoch
  // has each row once.
  Index stride = 0;
  // Whether windows start at random rows instead, in each batch anew, as nanoGPT's do. An epoch has
  // as many as without.
  bool random_starts = false;
  // Windows per batch; one batch of an epoch has the remaining ones, unless `drop_last`.
  Index batch_size = 32;
  std::uint64_t seed = 0;  // of the order, or of the starts
  // When false, windows are in order, without random starts.
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
  // rows [n, …], in memory. Throws ValueError for options outside their ranges, and unless there
  // are rows for one window and its targets.
  WindowBatches(Tensor<E> rows, const WindowOptions& options);
  // Rows that are read when they are needed, for instance Hdf5Rows. Throws what reading them
  // throws.
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
