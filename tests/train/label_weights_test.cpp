// Ignored labels in parts, batches, accumulation, validation and metrics: always the mean over the
// labels that count.
#include "tests/train/label_weights.hpp"

#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>

#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/train/evaluation.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

namespace weft {
namespace {

using namespace label_weights;

// The values of a column of a CSV file, where it has any.
std::vector<double> column(const std::filesystem::path& path, const std::string& name) {
  std::ifstream file(path);
  std::vector<double> values;
  std::string line, cell;
  std::ptrdiff_t index = -1;
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    for (std::ptrdiff_t i = 0; std::getline(cells, cell, ','); ++i)
      if (cell == name)
        index = i;
      else if (i == index && !cell.empty())
        values.push_back(std::stod(cell));
  }
  return values;
}

template <class T, class Kind>
struct Combination {
  Index batch_size = 1, parts = 1, accumulation = 1;
  TokenId ignored = -100;
  Form form = Form::cross_entropy;
  double clip_norm = std::numeric_limits<double>::infinity();
  double tolerance = 1e-12;

  void check() const {
    INFO("batches of " << batch_size << ", " << parts << " parts, accumulation " << accumulation
                       << ", ignore_index " << ignored << ", form " << static_cast<int>(form));
    auto source = Kind::source(batch_size, ignored);
    const Expected<T, Kind> expected(source, ignored, accumulation, clip_norm);
    REQUIRE(expected.whole.count == 7.0);
    LogitTable<T> table;
    const auto loss = loss_of<T, Kind>(table, ignored, form);
    const auto is = [&](double value, double by_hand) {
      CHECK(std::abs(value - by_hand) < tolerance);
    };
    is(mean_loss<T>(source, loss, parts), expected.whole.loss());
    is(mean_metric<T>(source, loss_as_metric(loss), parts), expected.whole.loss());

    using Batch = typename Kind::Batch;
    const auto logits = [&](Tape<T>& tape, const Batch& batch) {
      return linear(tape.constant(one_hot<T>(Kind::tokens(batch))), tape.parameter(table.weight));
    };
    const MetricOptions options{.ignore_index = ignored};
    const auto of_var = [&](Tape<T>& tape, const Batch& batch) {
      return accuracy(logits(tape, batch), Kind::targets(batch), options);
    };
    const auto of_tensor = [&](Tape<T>& tape, const Batch& batch) {
      return accuracy(logits(tape, batch).value(), Kind::targets(batch), options);
    };
    const auto errors = [&](Tape<T>& tape, const Batch& batch) {
      return 1.0 - accuracy(logits(tape, batch), Kind::targets(batch), options);
    };
    is(mean_metric<T>(source, of_var, parts), expected.whole.accuracy());
    is(mean_metric<T>(source, of_tensor, parts), expected.whole.accuracy());
    is(mean_metric<T>(source, errors, parts), 1.0 - expected.whole.accuracy());

    SGD<T> optimizer(table, {.lr = lr});
    Trainer trainer(
        table, optimizer, source, loss,
        {.gradient_accumulation_steps = accumulation, .parts = parts, .clip_norm = clip_norm});
    double validation = 0.0;
    trainer.validate_with({.columns = {"loss"}, .run = [&] {
                             validation = mean_loss<T>(source, loss, parts);
                             return std::vector{validation};
                           }});
    trainer.run();
    for (Index i = 0; i < table.weight.size(); ++i)
      is(static_cast<double>(table.weight.value().data()[i]),
         static_cast<double>(expected.weight.data()[i]));
    is(validation, trained_loss(expected.weight, source));
  }

 private:
  static MetricFunction<T, typename Kind::Batch> loss_as_metric(
      const LossFunction<T, typename Kind::Batch>& loss) {
    return [loss](Tape<T>& tape, const typename Kind::Batch& batch) -> MetricValue {
      const WeightedLoss<T> value = loss(tape, batch);
      return {static_cast<double>(value.item()), value.weight};
    };
  }
  template <class Source>
  double trained_loss(const Tensor<T>& weight, Source& source) const {
    ByHand hand;
    for (Index i = 0; i < source.num_batches(); ++i) {
      const auto batch = source.batch(0, i);
      hand.add(weight, Kind::tokens(batch), Kind::targets(batch), ignored);
    }
    return hand.loss();
  }
};

}  // namespace

TEMPLATE_TEST_CASE(
    "masked labels: the mean over those that count, for any parts, batches, accumulation and form",
    "[train][label weights]", OfTensors, OfWindows, OfLabelled, OfPacked, OfPairs, OfOwn) {
  Index combinations = 0;
  for (const TokenId ignored : {-100, -1, 0})
    for (const Form form : forms)
      for (const Index batch_size : {1, 2, 3, 4})
        for (const Index parts : {1, 2, 3, 4})
          for (const Index accumulation : {1, 2, 4}) {
            Combination<double, TestType>{.batch_size = batch_size,
                                          .parts = parts,
                                          .accumulation = accumulation,
                                          .ignored = ignored,
                                          .form = form}
                .check();
            ++combinations;
          }
  CHECK(combinations == 720);
}

TEMPLATE_TEST_CASE("masked labels: the same in float, and with gradients that are clipped",
                   "[train][label weights]", OfTensors, OfPacked, OfOwn) {
  for (const Index parts : {1, 3})
    for (const Index accumulation : {1, 3})
      for (const TokenId ignored : {-100, 0}) {
        Combination<float, TestType>{.batch_size = 2,
                                     .parts = parts,
                                     .accumulation = accumulation,
                                     .ignored = ignored,
                                     .tolerance = 1e-6}
            .check();
        Combination<double, TestType>{.batch_size = 2,
                                      .parts = parts,
                                      .accumulation = accumulation,
                                      .ignored = ignored,
                                      .clip_norm = 0.1}
            .check();
      }
}

TEST_CASE("masked labels: the loss and the validation in metrics.csv", "[train][label weights]") {
  for (const TokenId ignored : {-100, -1})
    for (const Index parts : {1, 2, 4})
      for (const Index batch_size : {1, 2, 4}) {
        const TemporaryFolder folder;
        auto source = OfTensors::source(batch_size, ignored);
        const Expected<double, OfTensors> expected(source, ignored, 1,
                                                   std::numeric_limits<double>::infinity());
        LogitTable<double> table;
        SGD<double> optimizer(table, {.lr = lr});
        const auto loss = loss_of<double, OfTensors>(table, ignored, Form::cross_entropy);
        Trainer trainer(table, optimizer, source, loss,
                        {.parts = parts, .folder = folder.path(), .log_every_steps = 100});
        trainer.validate_on(source, {},
                            {{"accuracy", [&](Tape<double>& tape, const auto& batch) {
                                const Var x = tape.constant(one_hot<double>(batch.inputs));
                                return accuracy(linear(x, tape.parameter(table.weight)),
                                                batch.targets, {.ignore_index = ignored});
                              }}});
        trainer.run();
        const auto last = [&](const char* name) {
          const std::vector<double> values = column(folder / "metrics.csv", name);
          REQUIRE(values.size() == 1);
          return values[0];
        };
        ByHand after;
        after.add(expected.weight, all_inputs(), one_label_each(ignored), ignored);
        CHECK(last("loss") == Approx(expected.trained.loss()).epsilon(1e-8));
        CHECK(last("validation_loss") == Approx(after.loss()).epsilon(1e-8));
        CHECK(last("accuracy") == Approx(after.accuracy()).epsilon(1e-8));
      }
}

TEST_CASE("masked labels: a checkpoint keeps weights that are no whole numbers",
          "[train][label weights]") {
  const auto train = [](const std::filesystem::path& folder, std::int64_t max_steps, bool resume) {
    auto source = OfTensors::source(1, -100);
    LogitTable<double> table;
    SGD<double> optimizer(table, {.lr = lr});
    Trainer(table, optimizer, source,
            [&](Tape<double>& tape, const TensorBatch<TokenId>& batch) {
              const Var x = tape.constant(one_hot<double>(batch.inputs));
              return WeightedLoss(mean(linear(x, tape.parameter(table.weight))),
                                  0.3 + 0.1 * batch.inputs.data()[0]);
            },
            {.max_steps = max_steps, .folder = folder, .resume = resume, .log_every_steps = 4})
        .run();
    return column(folder / "metrics.csv", "loss");
  };
  const TemporaryFolder whole, in_two;
  train(in_two.path(), 2, false);
  const std::vector<double> resumed = train(in_two.path(), 0, true);
  CHECK(resumed == train(whole.path(), 0, false));
  CHECK(resumed.size() == 1);
}

TEST_CASE("masked labels: Gpt::loss in parts is the loss of the whole batch",
          "[train][label weights]") {
  Random random(2);
  Gpt<double> gpt({.vocabulary_size = classes,
                   .max_len = length,
                   .num_hiddens = 8,
                   .num_heads = 2,
                   .num_blocks = 1},
                  random);
  const auto loss = [&](Tape<double>& tape, const TensorBatch<TokenId>& batch) {
    return gpt.loss(tape, batch.inputs, batch.targets);
  };
  auto whole = OfTensors::source(rows, -100);
  const double expected = mean_loss<double>(whole, loss);
  for (const Index batch_size : {1, 2, 3, 4})
    for (const Index parts : {1, 2, 4}) {
      auto source = OfTensors::source(batch_size, -100);
      CHECK(std::abs(mean_loss<double>(source, loss, parts) - expected) < 1e-12);
    }
}

TEST_CASE("masked labels: means over different numbers of labels need a weight",
          "[train][label weights]") {
  auto source = OfTensors::source(2, -100);
  LogitTable<double> table;
  const auto two_losses = [&](Tape<double>& tape, const TensorBatch<TokenId>& batch) {
    const Var x =
        linear(tape.constant(one_hot<double>(batch.inputs)), tape.parameter(table.weight));
    return cross_entropy(x, batch.targets) + cross_entropy(x, batch.inputs);
  };
  const std::string message =
      "loss: weight: expected means over the same number of labels, or a WeightedLoss, got means "
      "over ";
  CHECK(contains(message_of<ValueError>([&] { mean_loss<double>(source, two_losses); }), message));
  SGD<double> optimizer(table, {.lr = lr});
  const Tensor<double> before = table.weight.value().clone();
  CHECK(contains(
      message_of<ValueError>([&] { Trainer(table, optimizer, source, two_losses, {}).run(); }),
      message));
  CHECK(std::ranges::equal(before.values(), std::as_const(table.weight).value().values()));
  const auto weighted = [&](Tape<double>& tape, const TensorBatch<TokenId>& batch) {
    return WeightedLoss(two_losses(tape, batch), static_cast<double>(num_examples(batch)));
  };
  CHECK(mean_loss<double>(source, weighted) > 0.0);
  for (const double wrong :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    CHECK(contains(message_of<ValueError>([&] {
                     mean_loss<double>(source, [&](Tape<double>& tape, const auto& batch) {
                       return WeightedLoss(two_losses(tape, batch), wrong);
                     });
                   }),
                   "loss: weight: expected a finite number ≥ 0, got "));
}

namespace {

// Two numbers for each example, with a mask of those that count.
struct Masked {
  Tensor<double> values, mask;  // [batch, 2]
};
Index num_examples(const Masked& batch) { return batch.values.shape()[0]; }
Masked part_of(const Masked& batch, Index first, Index last) {
  return {rows_of(batch.values, first, last), rows_of(batch.mask, first, last)};
}
// The same, which also says how many there are.
struct Counted : Masked {};
Index num_labels(const Counted& batch) {
  return static_cast<Index>(std::accumulate(batch.mask.begin(), batch.mask.end(), 0.0));
}
Counted part_of(const Counted& batch, Index first, Index last) {
  return {part_of(static_cast<const Masked&>(batch), first, last)};
}

// 1, …, 8 in batches of two examples, of which 3, 5, 6 and 8.5 count (in 8's place): the mean is
// 5.625. The first example has none.
template <class B>
struct MaskedSource final : DataSource<B> {
  explicit MaskedSource(Index size = 2) : batch_size(size) {}
  Index num_batches() const override { return 4 / batch_size; }
  B batch(std::int64_t, Index position) override {
    const Masked all{Tensor<double>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8.5}),
                     Tensor<double>({4, 2}, {0, 0, 1, 0, 1, 1, 0, 1})};
    return {part_of(all, position * batch_size, (position + 1) * batch_size)};
  }
  std::uint64_t fingerprint() const override { return 1; }
  Index batch_size;
};

// The mean of weight · values over those that count: NaN without any.
struct Scale final : Module<double> {
  Parameter<double> weight{Tensor<double>({1}, {1.0})};
  void members(Members<double>& members) const override { members("weight", weight); }
  Var<double> operator()(Tape<double>& tape, const Masked& batch) const {
    const Var mask = tape.constant(batch.mask);
    return sum(mask * tape.constant(batch.values) * tape.parameter(weight)) / sum(mask);
  }
};

}  // namespace

TEST_CASE("weight 0: a NaN of a part, batch or metric without labels changes nothing",
          "[train][label weights]") {
  Scale model;
  const auto by_batch = [&](Tape<double>& tape, const Counted& batch) {
    return model(tape, batch);
  };
  const auto by_loss = [&](Tape<double>& tape, const Masked& batch) {
    const double count = std::accumulate(batch.mask.begin(), batch.mask.end(), 0.0);
    return WeightedLoss(model(tape, batch), count);
  };
  const auto check = [&](auto source, const auto& loss, Index parts, Index accumulation) {
    INFO("batches of " << source.batch_size << ", " << parts << " parts, accumulation "
                       << accumulation);
    model.weight.set_value(Tensor<double>({1}, {1.0}));
    CHECK(std::abs(mean_loss<double>(source, loss, parts) - 5.625) < 1e-12);
    const auto metric = [&](Tape<double>& tape, const auto& batch) -> MetricValue {
      const WeightedLoss<double> value = loss(tape, batch);
      return {value.item(), value.weight};
    };
    CHECK(std::abs(mean_metric<double>(source, metric, parts) - 5.625) < 1e-12);
    SGD<double> optimizer(model, {.lr = 0.125});
    Trainer trainer(model, optimizer, source, loss,
                    {.gradient_accumulation_steps = accumulation, .parts = parts});
    trainer.validate_on(source);
    trainer.run();
    // d loss / d weight is the mean of the values of the update's labels: of all four, or of one
    // and three, or of none, one, two and one.
    double slopes = 5.625;
    if (source.num_batches() == 2 && accumulation == 1) slopes = 3.0 + 19.5 / 3;
    if (source.num_batches() == 4 && accumulation == 1) slopes = 3.0 + 5.5 + 8.5;
    CHECK(std::abs(model.weight.value().data()[0] - (1.0 - 0.125 * slopes)) < 1e-12);
  };
  for (const Index batch_size : {1, 2, 4})
    for (const Index parts : {1, 2, 4})
      for (const Index accumulation : {1, 4}) {
        check(MaskedSource<Counted>(batch_size), by_batch, parts, accumulation);
        check(MaskedSource<Masked>(batch_size), by_loss, parts, accumulation);
      }
}

TEST_CASE("weight 0: a NaN elsewhere is still reported, and names its operation",
          "[train][label weights]") {
  Scale model;
  MaskedSource<Counted> source(4);
  SGD<double> optimizer(model, {.lr = 0.125});
  Trainer trainer(model, optimizer, source,
                  [&](Tape<double>& tape, const Counted& batch) {
                    const Var loss = model(tape, batch);
                    return batch.values.data()[0] == 5.0 ? log(loss * -1.0) : loss;
                  },
                  {.parts = 4});
  // The first part is 0 / 0.
  CHECK(contains(message_of<NonFiniteError>([&] { trainer.run(); }), "step 1: operation 'log'"));
}

TEST_CASE("weight 0: an update without any labels changes no weights", "[train][label weights]") {
  LogitTable<double> table;
  const Tensor<double> before = table.weight.value().clone();
  SGD<double> optimizer(table, {.lr = lr, .momentum = 0.9, .weight_decay = 0.1});
  TensorBatches<TokenId> source(all_inputs(), Tokens::full({rows, length}, -100),
                                {.batch_size = 2});
  for (const Index parts : {1, 2}) {
    const TrainingResult result =
        Trainer(table, optimizer, source,
                loss_of<double, OfTensors>(table, -100, Form::cross_entropy), {.parts = parts})
            .run();
    CHECK(result.steps == 2);
    CHECK(std::ranges::equal(before.values(), std::as_const(table.weight).value().values()));
  }
  CHECK(message_of<ValueError>([&] {
          mean_metric<double>(source, [&](Tape<double>& tape, const TensorBatch<TokenId>& batch) {
            return accuracy(tape.constant(one_hot<double>(batch.inputs)), batch.targets);
          });
        }) == "mean over batches: expected at least one label, got none");
}

TEST_CASE("labels: reports count those that cross_entropy counts by default",
          "[train][label weights]") {
  CHECK(num_labels(OfTensors::source(4, -100).batch(0, 0)) == 7);
  CHECK(num_labels(OfLabelled::source(4, -100).batch(0, 0)) == 7);
  CHECK(num_labels(OfPacked::source(4, -100).batch(0, 0)) == 7);
  const TensorBatch<float> numbers{Tensor<float>({2, 2}), Tensor<float>::full({2, 2}, -100.0f)};
  CHECK(num_labels(numbers) == 4);
}

}  // namespace weft
