// Ignored labels with several processes: the mean over the labels that count, and the bits of one
// process.
#include "tests/train/label_weights.hpp"

#include <cstring>
#include <limits>

#include <weft/train/evaluation.hpp>
#include "tests/catch.hpp"
#include "tests/train/parallel/processes/several_processes.hpp"

namespace weft {

using namespace label_weights;

TEMPLATE_TEST_CASE("processes: masked labels give the mean over those that count", "[processes]",
                   OfTensors, OfLabelled, OfPacked, OfPairs, OfOwn) {
  ProcessGroup& processes = test_processes();
  std::size_t combinations = 0;
  for (const Index batch_size : {1, 2, 4})
    for (const Index parts : {4, 5})
      for (const Index accumulation : {1, 4}) {
        // The forms alternate; tests/train/label_weights_test.cpp combines them with all others.
        const Form form = forms[combinations % forms.size()];
        const TokenId ignored = parts == 4 ? -100 : -1;
        INFO("batches of " << batch_size << ", " << parts << " parts, accumulation " << accumulation
                           << ", ignore_index " << ignored << ", form " << static_cast<int>(form));
        ++combinations;
        const double clip_norm = accumulation == 1 ? 0.1 : std::numeric_limits<double>::infinity();
        auto source = TestType::source(batch_size, ignored);
        const Expected<double, TestType> expected(source, ignored, accumulation, clip_norm);
        const auto train = [&](ProcessGroup* group) {
          LogitTable<double> table;
          const auto loss = loss_of<double, TestType>(table, ignored, form);
          CHECK(std::abs(mean_loss<double>(source, loss, parts, group) - expected.whole.loss()) <
                1e-12);
          SGD<double> optimizer(table, {.lr = lr});
          Trainer trainer(table, optimizer, source, loss,
                          {.gradient_accumulation_steps = accumulation,
                           .parts = parts,
                           .clip_norm = clip_norm,
                           .processes = group});
          trainer.validate_on(source);
          const double validation = trainer.run().best_value;
          return std::pair(bytes_of_parameters(table), validation);
        };
        const auto together = train(&processes), alone = train(nullptr);
        CHECK((together == alone));
        std::vector<double> weights(classes * classes);
        std::memcpy(weights.data(), together.first.data(), together.first.size());
        for (std::size_t i = 0; i < weights.size(); ++i)
          CHECK(std::abs(weights[i] - expected.weight.data()[i]) < 1e-12);
      }
  CHECK(combinations == 12);
}

TEST_CASE("processes: parts without labels contribute nothing, not even NaN", "[processes]") {
  // Each example is a part, and only the third has labels; the losses of the others are 0 / 0.
  Tensor<double> numbers({4, 1}, {1, 2, 3, 4}), targets({4, 1}, {0, 0, 1, 0});
  TensorBatches<double> source(numbers, targets, {.batch_size = 4, .shuffle = false});
  LogitTable<double> table;
  const auto loss = [&](Tape<double>& tape, const TensorBatch<double>& batch) {
    const Var mask = tape.constant(batch.targets);
    const Var errors = mask * tape.constant(batch.inputs) * sum(tape.parameter(table.weight));
    return WeightedLoss(sum(errors) / sum(mask), sum(mask).item());
  };
  const Tensor<double> before = table.weight.value().clone();
  SGD<double> optimizer(table, {.lr = 0.5});
  Trainer(table, optimizer, source, loss, {.parts = 4, .processes = &test_processes()}).run();
  for (Index i = 0; i < before.size(); ++i)
    CHECK(std::abs(table.weight.value().data()[i] - (before.data()[i] - 1.5)) < 1e-12);
}

}  // namespace weft
