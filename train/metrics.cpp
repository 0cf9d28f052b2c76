#include "weft/train/metrics.hpp"

#include <algorithm>
#include <cmath>

#include "weft/autograd/error.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {

namespace {

// Calls body(label, class with the highest logit) for each label that is not ignored.
template <class T, class Body>
void for_each_label(const char* what, const Tensor<T>& logits, const Tokens& labels,
                    const MetricOptions& options, const Body& body) {
  const Shape& shape = logits.shape();
  if (shape.rank() == 0 || shape.without(shape.rank() - 1) != labels.shape())
    fail<ShapeError>(what, "logits [..., classes] and labels [...]",
                     str_cat(shape, " and ", labels.shape()));
  const Index classes = shape[shape.rank() - 1];
  for (Index i = 0; i < labels.size(); ++i) {
    const TokenId label = labels.data()[i];
    if (label == options.ignore_index) continue;
    if (label < 0 || label >= classes)
      fail<ValueError>(what, "labels from " + index_range(classes),
                       str_cat(label, " at ", labels.shape().position(i)));
    const T* row = logits.data() + i * classes;
    // NaN counts as the maximum, as in `argmax`.
    const auto is_lower = [](T a, T b) { return a < b || (std::isnan(b) && !std::isnan(a)); };
    body(label, std::max_element(row, row + classes, is_lower) - row);
  }
}

}  // namespace

template <class T>
MetricValue accuracy(const Tensor<T>& logits, const Tokens& labels, const MetricOptions& options) {
  double counted = 0.0, correct = 0.0;
  for_each_label("accuracy", logits, labels, options, [&](TokenId label, Index predicted) {
    counted += 1.0;
    correct += predicted == label ? 1.0 : 0.0;
  });
  return {counted == 0.0 ? 0.0 : correct / counted, counted};
}

template <class T>
Tensor<double> confusion_matrix(const Tensor<T>& logits, const Tokens& labels,
                                const MetricOptions& options) {
  const Index classes = logits.shape().rank() == 0 ? 0 : logits.shape()[logits.shape().rank() - 1];
  Tensor<double> counts({classes, classes});
  for_each_label("confusion_matrix", logits, labels, options,
                 [&](TokenId label, Index predicted) { counts(label, predicted) += 1.0; });
  return counts;
}

template Tensor<double> confusion_matrix(const Tensor<float>&, const Tokens&, const MetricOptions&);
template Tensor<double> confusion_matrix(const Tensor<double>&, const Tokens&,
                                         const MetricOptions&);
template MetricValue accuracy(const Tensor<float>&, const Tokens&, const MetricOptions&);
template MetricValue accuracy(const Tensor<double>&, const Tokens&, const MetricOptions&);

}  // namespace weft
