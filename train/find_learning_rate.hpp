// find_learning_rate: a short training run that shows which learning rates a model can use.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/train/trainer.hpp"

namespace weft {

// Options of find_learning_rate.
struct LearningRateSearchOptions {
  double first = 1e-7;       // the rate of the first step, > 0
  double last = 10.0;        // the rate of the last step, finite and > first
  std::int64_t steps = 100;  // number of steps, ≥ 2
  // The search ends when the smoothed loss exceeds `divergence` times the lowest one so far; > 1.
  double divergence = 4.0;
  double smoothing = 0.9;  // decay of the moving average of the losses; 0 ≤ smoothing < 1
  std::uint64_t seed = 0;  // the seed for dropout
};

// The result of find_learning_rate, with one element for each step.
struct WEFT_API LearningRateSearch {
  std::vector<double> learning_rates;  // the rates of the steps
  std::vector<double> losses;          // moving averages, without the bias to the first loss
  // The rate at which the loss falls the most from one step to the next.
  double suggestion = 0.0;

  // Returns an SVG picture of the losses over the learning rates, on a logarithmic scale.
  std::string svg() const;
};

// Searches with a data source as BatchLosses. Throws the same exceptions as the function below.
template <class T>
WEFT_API LearningRateSearch find_learning_rate(Module<T>& model, Optimizer<T>& optimizer,
                                               BatchLosses<T> losses, Index parts,
                                               const LearningRateSearchOptions& options);

// Trains for a few steps in which the learning rate grows by the same factor each time (Smith,
// 2017, https://arxiv.org/abs/1506.01186; Lightning's lr_find), and then restores the model and the
// optimizer. Throws ValueError for options outside their ranges, and for a loss that is not finite
// in the first two steps.
//   const auto loss = [](Tape<float>& pass, const TensorBatch<TokenId>& batch) {
//     return gpt.loss(pass, batch.inputs, batch.targets);
//   };
//   const double lr = find_learning_rate(gpt, optimizer, held_out, loss).suggestion;
template <class T, class B>
LearningRateSearch find_learning_rate(Module<T>& model, Optimizer<T>& optimizer,
                                      DataSource<B>& source,
                                      std::type_identity_t<LossFunction<T, B>> loss,
                                      const LearningRateSearchOptions& options = {}) {
  return find_learning_rate(model, optimizer, batch_losses<T, B>(source, std::move(loss)),
                            has_parts<B> ? 0 : 1, options);
}

}  // namespace weft
