// ToyTraining: a small model, its data and its optimizer, for tests of the trainer.
#pragma once

#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/autograd/ops/dropout.hpp>
#include <weft/autograd/ops/linear.hpp>
#include <weft/autograd/ops/losses.hpp>
#include <weft/autograd/ops/matmul.hpp>
#include <weft/autograd/random.hpp>
#include <weft/train/data/pairs.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/trainer.hpp>
#include "tests/train/affine.hpp"

namespace weft {

// Predicts each token from the one before it, with dropout: one weight for every pair of tokens.
template <class T>
struct ToyTraining {
  static constexpr Index vocabulary = 9;

  Affine<T> model{{vocabulary, vocabulary}, {vocabulary}};
  PairBatches batches;
  AdamW<T> optimizer{model, {.lr = 0.05, .weight_decay = 0.01}};

  explicit ToyTraining(Index num_pairs = 22, Index batch_size = 4)
      : batches(pairs(num_pairs), {.batch_size = batch_size, .seed = 3}) {}
  ToyTraining(const ToyTraining&) = delete;

  static std::vector<SequencePair> pairs(Index count) {
    Random random(5);
    std::vector<SequencePair> result(static_cast<std::size_t>(count));
    for (auto& [source, target] : result) {
      source = {4};
      for (Index length = 1 + random.below(5); length > 0; --length)
        target.push_back(static_cast<TokenId>(4 + (length + random.below(2)) % 5));
    }
    return result;
  }

  Var<T> loss(Tape<T>& tape, const PairBatch& batch, double dropout_probability = 0.2) {
    Tensor<T> one_hot(batch.target.tokens.shape().inserted(2, vocabulary));
    for (Index i = 0; i < batch.target.tokens.size(); ++i)
      one_hot.data()[i * vocabulary + batch.target.tokens.data()[i]] = T{1};
    const Var<T> x = dropout(tape.constant(one_hot), dropout_probability);
    const Var<T> logits = linear(x, tape.parameter(model.weight), tape.parameter(model.bias));
    return cross_entropy(logits, batch.labels);
  }

  LossFunction<T, PairBatch> loss_function(double dropout_probability = 0.2) {
    return [this, dropout_probability](Tape<T>& tape, const PairBatch& batch) {
      return loss(tape, batch, dropout_probability);
    };
  }

  std::vector<T> values() const {
    std::vector<T> all(model.weight.value().begin(), model.weight.value().end());
    all.insert(all.end(), model.bias.value().begin(), model.bias.value().end());
    return all;
  }
};

}  // namespace weft
