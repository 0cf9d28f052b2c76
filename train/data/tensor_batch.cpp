#include "weft/train/data/tensor_batch.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "weft/autograd/ops/cross_entropy.hpp"
#include "train/data/internal/fingerprint.hpp"

namespace weft {
namespace {

template <class E>
Tensor<E> selected_rows(const Tensor<E>& tensor, std::span<const Index> rows) {
  const Index row_size = tensor.shape().without(0).elements();
  auto result = Tensor<E>::uninitialized(tensor.shape().with(0, std::ssize(rows)));
  E* to = result.data();
  for (const Index row : rows) to = std::copy_n(tensor.data() + row * row_size, row_size, to);
  return result;
}

}  // namespace

template <class E>
Tensor<E> rows_of(const Tensor<E>& tensor, Index first, Index last) {
  if (tensor.rank() == 0) fail<ShapeError>("rows of a tensor", "shape [n, …]", tensor.shape());
  if (!(0 <= first && first <= last && last <= tensor.shape()[0]))
    fail<ValueError>("rows of a tensor", str_cat("0 ≤ first ≤ last ≤ ", tensor.shape()[0]),
                     str_cat("first ", first, " and last ", last));
  const Index row_size = tensor.shape().without(0).elements();
  auto result = Tensor<E>::uninitialized(tensor.shape().with(0, last - first));
  std::copy_n(tensor.data() + first * row_size, (last - first) * row_size, result.data());
  return result;
}

Index num_counted(const Tokens& targets) {
  return targets.size() - std::ranges::count(targets.values(), CrossEntropyOptions{}.ignore_index);
}

template <class X, class Y>
TensorBatches<X, Y>::TensorBatches(Tensor<X> inputs, Tensor<Y> targets, const BatchOptions& options)
    : examples_{std::move(inputs), std::move(targets)},
      sampler_(std::vector<ExampleLengths>(static_cast<std::size_t>(num_examples(examples_))),
               options),
      fingerprint_(Fingerprint(options, examples_.inputs, examples_.targets).value()) {}

template <class X, class Y>
TensorBatch<X, Y> TensorBatches<X, Y>::batch(std::int64_t epoch, Index position) {
  const std::span<const Index> rows = sampler_.batch(epoch, position);
  return {selected_rows(examples_.inputs, rows), selected_rows(examples_.targets, rows)};
}

template Tensor<float> rows_of(const Tensor<float>&, Index, Index);
template Tensor<double> rows_of(const Tensor<double>&, Index, Index);
template Tensor<TokenId> rows_of(const Tensor<TokenId>&, Index, Index);
template Tensor<bool> rows_of(const Tensor<bool>&, Index, Index);
template class TensorBatches<float>;
template class TensorBatches<double>;
template class TensorBatches<float, TokenId>;
template class TensorBatches<double, TokenId>;
template class TensorBatches<TokenId>;
template class TensorBatches<TokenId, float>;

}  // namespace weft
