#include "weft/train/metrics.hpp"

#include <algorithm>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/cross_entropy.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {

template <class T>
double accuracy(const Tensor<T>& logits, const Tokens& labels) {
  const Shape& shape = logits.shape();
  if (shape.rank() == 0 || shape.without(shape.rank() - 1) != labels.shape())
    fail<ShapeError>("accuracy", "logits [..., classes] and labels [...]",
                     concatenate_text(shape, " and ", labels.shape()));
  const Index classes = shape[shape.rank() - 1];
  Index counted = 0, correct = 0;
  for (Index i = 0; i < labels.size(); ++i) {
    const TokenId label = labels.data()[i];
    if (label == CrossEntropyOptions{}.ignore_index) continue;
    if (label < 0 || label >= classes)
      fail<ValueError>("accuracy", "labels of " + index_range(classes),
                       concatenate_text(label, " at ", labels.shape().position(i)));
    const T* row = logits.data() + i * classes;
    ++counted;
    correct += std::max_element(row, row + classes) - row == label ? 1 : 0;
  }
  return counted == 0 ? 0.0 : static_cast<double>(correct) / static_cast<double>(counted);
}

template double accuracy(const Tensor<float>&, const Tokens&);
template double accuracy(const Tensor<double>&, const Tokens&);

}  // namespace weft
