// Trainings with ignored labels on every kind of batch, and what they give by hand.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/autograd/ops/linear.hpp>
#include <weft/autograd/ops/recompute.hpp>
#include <weft/layers/module.hpp>
#include <weft/train/data/labelled.hpp>
#include <weft/train/data/packed.hpp>
#include <weft/train/data/pairs.hpp>
#include <weft/train/data/tensor_batch.hpp>
#include <weft/train/data/windows.hpp>
#include <weft/train/metrics.hpp>
#include <weft/train/optim/sgd.hpp>
#include <weft/train/trainer.hpp>

namespace weft::label_weights {

constexpr Index classes = 5, rows = 4, length = 4;

// The class of each position of 4 × 4, of which 7 count: 4, 0, 1 and 2 of the rows. 0 is not among
// them, so that it may be the ignored one.
constexpr std::array<TokenId, rows * length> labels{3, 1, 2, 4, 0, 0, 0, 0, 0, 0, 1, 0, 4, 0, 2, 0};
constexpr std::array<TokenId, rows * length> inputs{1, 2, 3, 1, 4, 2, 2, 3, 1, 4, 2, 3, 3, 2, 4, 1};

// Logits by a table: of class c after token t, weight(c, t).
template <class T>
struct LogitTable final : Module<T> {
  Parameter<T> weight{Random(3).normal_tensor<T>({classes, classes})};
  void members(Members<T>& members) const override { members("weight", weight); }
};

inline Tokens one_label_each(TokenId ignored) {
  Tokens targets({rows, length});
  for (Index i = 0; i < targets.size(); ++i) {
    const TokenId label = labels[static_cast<std::size_t>(i)];
    targets.data()[i] = label == 0 ? ignored : label;
  }
  return targets;
}
inline Tokens all_inputs() {
  return Tokens({rows, length}, std::vector<TokenId>(inputs.begin(), inputs.end()));
}

// Another source, whose batches are changed.
template <class B>
class Changed final : public DataSource<B> {
 public:
  template <class Source>
  Changed(Source source, std::function<void(B&)> change)
      : source_(std::make_unique<Source>(std::move(source))), change_(std::move(change)) {}
  Index num_batches() const override { return source_->num_batches(); }
  B batch(std::int64_t epoch, Index position) override {
    B batch = source_->batch(epoch, position);
    change_(batch);
    return batch;
  }
  std::uint64_t fingerprint() const override { return source_->fingerprint(); }

 private:
  std::unique_ptr<DataSource<B>> source_;
  std::function<void(B&)> change_;
};

// A kind of batch: its source, and what its loss reads.
struct OfTensors {
  using Batch = TensorBatch<TokenId>;
  static auto source(Index batch_size, TokenId ignored) {
    return TensorBatches<TokenId>(all_inputs(), one_label_each(ignored),
                                  {.batch_size = batch_size, .seed = 2});
  }
  static const Tokens& tokens(const Batch& batch) { return batch.inputs; }
  static const Tokens& targets(const Batch& batch) { return batch.targets; }
};

struct OfWindows {
  using Batch = TensorBatch<TokenId>;
  // Text with a token that is ignored where it is a target.
  static auto source(Index batch_size, TokenId ignored) {
    Tokens text({rows * length + 1});
    for (Index i = 0; i < text.size(); ++i)
      text.data()[i] = i == 0 ? 1 : labels[static_cast<std::size_t>(i - 1)];
    return Changed<Batch>(
        WindowBatches<TokenId>(text, {.length = length, .batch_size = batch_size, .seed = 2}),
        [ignored](Batch& batch) {
          for (TokenId& target : batch.targets)
            if (target == 0) target = ignored;
        });
  }
  static const Tokens& tokens(const Batch& batch) { return batch.inputs; }
  static const Tokens& targets(const Batch& batch) { return batch.targets; }
};

struct OfLabelled {
  using Batch = LabelledBatch;
  static auto source(Index batch_size, TokenId ignored) {
    std::vector<LabelledSequence> examples;
    for (std::size_t i = 0; i < labels.size(); ++i)
      examples.push_back({{inputs[i]}, labels[i] == 0 ? ignored : labels[i]});
    return LabelledBatches(examples, {.batch_size = 4 * batch_size, .seed = 2});
  }
  static Tokens tokens(const Batch& batch) {
    return batch.sequences.tokens.reshaped(batch.labels.shape());
  }
  static const Tokens& targets(const Batch& batch) { return batch.labels; }
};

struct OfPacked {
  using Batch = PackedBatch;
  static auto source(Index batch_size, TokenId ignored) {
    std::vector<LearnedText> texts(rows);
    for (Index i = 0; i < rows * length; ++i) {
      LearnedText& text = texts[static_cast<std::size_t>(i / length)];
      const TokenId label = labels[static_cast<std::size_t>(i)];
      if (i % length == 0)
        text = {.tokens = {inputs[static_cast<std::size_t>(i)]}, .learned = {false}};
      text.tokens.push_back(label);
      // One token at least is learned.
      text.learned.push_back(label != 0 || i == 5);
    }
    return Changed<Batch>(
        PackedBatches(texts, {.length = length, .batch_size = batch_size, .seed = 2}),
        [ignored](Batch& batch) {
          for (TokenId& target : batch.targets)
            if (target < 1) target = ignored;
        });
  }
  static const Tokens& tokens(const Batch& batch) { return batch.inputs; }
  static const Tokens& targets(const Batch& batch) { return batch.targets; }
};

struct OfPairs {
  using Batch = PairBatch;
  // Made by hand, with PairBatch::num_labels left out.
  struct Pairs final : DataSource<PairBatch> {
    Index batch_size;
    TokenId ignored;
    Pairs(Index size, TokenId index) : batch_size(size), ignored(index) {}
    Index num_batches() const override { return (rows + batch_size - 1) / batch_size; }
    PairBatch batch(std::int64_t, Index position) override {
      const Index first = position * batch_size, last = std::min(rows, first + batch_size);
      PairBatch batch;
      batch.source.tokens = rows_of(all_inputs(), first, last);
      batch.target.tokens = Tokens({last - first, 0});
      batch.labels = rows_of(one_label_each(ignored), first, last);
      return batch;
    }
    std::uint64_t fingerprint() const override { return 1; }
  };
  static auto source(Index batch_size, TokenId ignored) { return Pairs(batch_size, ignored); }
  static const Tokens& tokens(const Batch& batch) { return batch.source.tokens; }
  static const Tokens& targets(const Batch& batch) { return batch.labels; }
};

// A batch type of a user, which says nothing of labels.
struct OwnBatch {
  Tokens tokens, targets;
};
inline Index num_examples(const OwnBatch& batch) { return batch.tokens.shape()[0]; }
inline OwnBatch part_of(const OwnBatch& batch, Index first, Index last) {
  return {rows_of(batch.tokens, first, last), rows_of(batch.targets, first, last)};
}

struct OfOwn {
  using Batch = OwnBatch;
  struct Source final : DataSource<OwnBatch> {
    Index batch_size;
    TokenId ignored;
    Source(Index size, TokenId index) : batch_size(size), ignored(index) {}
    Index num_batches() const override { return (rows + batch_size - 1) / batch_size; }
    OwnBatch batch(std::int64_t, Index position) override {
      const Index first = position * batch_size, last = std::min(rows, first + batch_size);
      return part_of(OwnBatch{all_inputs(), one_label_each(ignored)}, first, last);
    }
    std::uint64_t fingerprint() const override { return 1; }
  };
  static auto source(Index batch_size, TokenId ignored) { return Source(batch_size, ignored); }
  static const Tokens& tokens(const Batch& batch) { return batch.tokens; }
  static const Tokens& targets(const Batch& batch) { return batch.targets; }
};

// [..., classes] for tokens [...].
template <class T>
Tensor<T> one_hot(const Tokens& tokens) {
  Tensor<T> result(tokens.shape().inserted(tokens.rank(), classes));
  for (Index i = 0; i < tokens.size(); ++i) result.data()[i * classes + tokens.data()[i]] = T{1};
  return result;
}

// The ways to write the same loss.
enum class Form { cross_entropy, named, linear_cross_entropy, recomputed, by_divisor };
inline constexpr std::array forms{Form::cross_entropy, Form::named, Form::linear_cross_entropy,
                                  Form::recomputed, Form::by_divisor};

template <class T, class Kind>
LossFunction<T, typename Kind::Batch> loss_of(const LogitTable<T>& table, TokenId ignored,
                                              Form form) {
  using Batch = typename Kind::Batch;
  const CrossEntropyOptions options{.ignore_index = ignored};
  const auto logits = [&table](const Var<T>& x) {
    return linear(x, x.tape().parameter(table.weight));
  };
  const auto input = [](Tape<T>& tape, const Batch& batch) {
    return tape.constant(one_hot<T>(Kind::tokens(batch)));
  };
  switch (form) {
    case Form::cross_entropy:
      return [=](Tape<T>& tape, const Batch& batch) {
        return cross_entropy(logits(input(tape, batch)), Kind::targets(batch), options);
      };
    case Form::named:
      return [=](Tape<T>& tape, const Batch& batch) {
        const Var loss = cross_entropy(logits(input(tape, batch)), Kind::targets(batch), options);
        const Var half = T{0.5} * loss;
        return half + half;
      };
    case Form::linear_cross_entropy:
      return [=, &table](Tape<T>& tape, const Batch& batch) {
        return linear_cross_entropy(input(tape, batch), tape.parameter(table.weight),
                                    Kind::targets(batch), options);
      };
    case Form::recomputed:
      return [=](Tape<T>& tape, const Batch& batch) {
        const Tokens targets = Kind::targets(batch);
        return recompute(
            [=](const Var<T>& x) { return cross_entropy(logits(x), targets, options); },
            input(tape, batch));
      };
    case Form::by_divisor:
      break;
  }
  return [=](Tape<T>& tape, const Batch& batch) {
    const Tokens targets = Kind::targets(batch);
    const auto counted = targets.size() - std::ranges::count(targets.values(), ignored);
    CrossEntropyOptions divided = options;
    divided.divisor = static_cast<double>(std::max<Index>(1, counted));
    const Var<T> loss = cross_entropy(logits(input(tape, batch)), targets, divided);
    return WeightedLoss<T>(loss, static_cast<double>(counted));
  };
}

// The loss, its gradient and the accuracy of some examples by hand.
struct ByHand {
  double count = 0.0, loss_sum = 0.0, correct = 0.0;
  std::array<double, classes* classes> gradient_sum = {};  // of the weights [class, token]

  template <class T>
  void add(const Tensor<T>& weight, const Tokens& tokens, const Tokens& targets, TokenId ignored) {
    for (Index i = 0; i < tokens.size(); ++i) {
      const Index token = tokens.data()[i], target = targets.data()[i];
      if (target == ignored) continue;
      double sum = 0.0;
      Index best = 0;
      for (Index c = 0; c < classes; ++c) {
        sum += std::exp(static_cast<double>(weight(c, token)));
        if (weight(c, token) > weight(best, token)) best = c;
      }
      for (Index c = 0; c < classes; ++c)
        gradient_sum[static_cast<std::size_t>(c * classes + token)] +=
            std::exp(static_cast<double>(weight(c, token))) / sum - (c == target ? 1.0 : 0.0);
      loss_sum += std::log(sum) - static_cast<double>(weight(target, token));
      correct += best == target ? 1.0 : 0.0;
      count += 1.0;
    }
  }
  double loss() const { return loss_sum / count; }
  double accuracy() const { return correct / count; }
};

constexpr double lr = 0.5;

// Of a whole source, and the mean loss and the weights of an epoch of training with SGD.
template <class T, class Kind>
struct Expected {
  ByHand whole, trained;
  Tensor<T> weight;

  Expected(DataSource<typename Kind::Batch>& source, TokenId ignored, Index accumulation,
           double clip_norm) {
    weight = LogitTable<T>().weight.value().clone();
    const Tensor<T> start = weight.clone();
    const Index batches = source.num_batches();
    for (Index first = 0; first < batches; first += accumulation) {
      ByHand update;
      for (Index i = first; i < std::min(batches, first + accumulation); ++i) {
        const auto batch = source.batch(0, i);
        whole.add(start, Kind::tokens(batch), Kind::targets(batch), ignored);
        update.add(weight, Kind::tokens(batch), Kind::targets(batch), ignored);
      }
      if (update.count == 0.0) continue;
      trained.count += update.count;
      trained.loss_sum += update.loss_sum;
      double squares = 0.0;
      for (const double sum : update.gradient_sum) squares += sum * sum;
      const double norm = std::sqrt(squares) / update.count;
      const double factor = lr * std::min(1.0, clip_norm / (norm + 1e-6)) / update.count;
      for (std::size_t i = 0; i < update.gradient_sum.size(); ++i)
        weight.data()[i] -= static_cast<T>(factor * update.gradient_sum[i]);
    }
  }
};

}  // namespace weft::label_weights
