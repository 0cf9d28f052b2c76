#include "weft/train/data/windows.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/autograd/random.hpp"
#include "autograd/internal/checks.hpp"
#include "train/data/internal/fingerprint.hpp"

namespace weft {
namespace {

// Rows in memory.
template <class E>
class TensorRows final : public Rows<E> {
 public:
  explicit TensorRows(Tensor<E> rows) : rows_(std::move(rows)) {
    if (rows_.rank() == 0) fail<ShapeError>("rows", "shape [n, …]", rows_.shape());
  }

  const Shape& shape() const override { return rows_.shape(); }
  Tensor<E> read(Index first, Index last) const override { return rows_of(rows_, first, last); }
  std::uint64_t fingerprint() const override { return Fingerprint(rows_).value(); }

 private:
  const Tensor<E> rows_;
};

template <class E>
std::shared_ptr<const Rows<E>> checked(std::shared_ptr<const Rows<E>> rows) {
  if (!rows) fail<ValueError>("windows: rows", "rows to read", "a null pointer");
  return rows;
}

WindowOptions completed(WindowOptions options) {
  check_positive("windows: length", options.length);
  check_at_least("windows: offset", options.offset, Index{0});
  check_at_least("windows: target_length", options.target_length, Index{0});
  check_at_least("windows: stride", options.stride, Index{0});
  if (options.target_length == 0) options.target_length = options.length;
  if (options.stride == 0) options.stride = options.length;
  return options;
}

// Returns the number of rows from the start of a window to the end of its targets. Throws
// ValueError if there are fewer rows.
Index span_of(const WindowOptions& options, Index rows) {
  const bool fits = options.length <= rows && options.offset <= rows &&
                    options.target_length <= rows - options.offset;
  if (!fits)
    fail<ValueError>("windows",
                     str_cat("enough rows for a window of ", options.length, " and targets of ",
                             options.target_length, " at offset ", options.offset),
                     rows);
  return std::max(options.length, options.offset + options.target_length);
}

BatchOptions batch_options(const WindowOptions& options) {
  return {.batch_size = options.batch_size,
          .seed = options.seed,
          .shuffle = options.shuffle && !options.random_starts,
          .drop_last = options.drop_last};
}

std::vector<ExampleLengths> windows_in(Index rows, Index span, Index stride) {
  return std::vector<ExampleLengths>(static_cast<std::size_t>((rows - span) / stride + 1));
}

}  // namespace

template <class E>
WindowBatches<E>::WindowBatches(Tensor<E> rows, const WindowOptions& options)
    : WindowBatches(std::make_shared<const TensorRows<E>>(std::move(rows)), options) {}

template <class E>
WindowBatches<E>::WindowBatches(std::shared_ptr<const Rows<E>> rows, const WindowOptions& options)
    : rows_(checked(std::move(rows))),
      options_(completed(options)),
      span_(span_of(options_, rows_->shape()[0])),
      sampler_(windows_in(rows_->shape()[0], span_, options_.stride), batch_options(options_)),
      fingerprint_(Fingerprint(batch_options(options_), options_.length, options_.offset,
                               options_.target_length, options_.stride,
                               Index{options_.random_starts},
                               static_cast<std::int64_t>(rows_->fingerprint()))
                       .value()) {}

template <class E>
TensorBatch<E> WindowBatches<E>::batch(std::int64_t epoch, Index position) {
  const std::span<const Index> windows = sampler_.batch(epoch, position);
  Random random = batch_random(options_.seed, epoch, position);
  const auto count = std::ssize(windows);
  const Shape& shape = rows_->shape();
  const Shape row = shape.without(0);
  auto inputs = Tensor<E>::uninitialized(row.inserted(0, options_.length).inserted(0, count));
  auto targets =
      Tensor<E>::uninitialized(row.inserted(0, options_.target_length).inserted(0, count));
  E *to_input = inputs.data(), *to_target = targets.data();
  for (const Index window : windows) {
    const Index start =
        options_.random_starts ? random.below(shape[0] - span_ + 1) : window * options_.stride;
    const Tensor<E> rows = rows_->read(start, start + span_);
    const E* from = rows.data();
    to_input = std::copy_n(from, options_.length * row.elements(), to_input);
    to_target = std::copy_n(from + options_.offset * row.elements(),
                            options_.target_length * row.elements(), to_target);
  }
  return {std::move(inputs), std::move(targets)};
}

template class WindowBatches<float>;
template class WindowBatches<double>;
template class WindowBatches<TokenId>;

}  // namespace weft
