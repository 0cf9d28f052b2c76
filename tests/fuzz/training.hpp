// SmallTraining: a training whose folder has a checkpoint with every kind of state, metrics and a
// record, which write_seeds writes and read_files changes.
#pragma once

#include <filesystem>
#include <string>

#include <weft/autograd/ops/losses.hpp>
#include <weft/layers/linear.hpp>
#include <weft/train/data/tensor_batch.hpp>
#include <weft/train/data/vocabulary.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/trainer.hpp>

namespace weft {

// A vocabulary in a checkpoint.
struct SavedVocabulary final : Stateful<float> {
  std::string text = "a\nb";
  void state(State<float>& state) override { state.text("vocabulary", text); }
  void check_state() const override { Vocabulary::from_text(text); }
};

struct SmallTraining {
  Random random{1};
  Linear<float> model{{.in_features = 3, .out_features = 2}, random};
  AdamW<float> optimizer{model, {.lr = 0.01}};
  ExponentialMovingAverage<float> average{model, 0.9};
  SavedVocabulary vocabulary;
  TensorBatches<> batches{
      random.normal_tensor({6, 3}), random.normal_tensor({6, 2}), {.batch_size = 2}};

  // Trains until `steps`, from where the folder's checkpoint ends, with a validation every 2 steps.
  void run(const std::filesystem::path& folder, std::int64_t steps) {
    Trainer trainer(model, optimizer, batches,
                    [this](Tape<float>& tape, const TensorBatch<>& batch) {
                      return mse_loss(model(tape.constant(batch.inputs)),
                                      tape.constant(batch.targets));
                    },
                    {.epochs = 3,
                     .max_steps = steps,
                     .schedule = constant_schedule(0.01),
                     .plateau = Plateau{},
                     .folder = folder,
                     .resume = true,
                     .log_every_steps = 1});
    trainer.validate_on(batches, {.every_steps = 2, .patience = 5});
    trainer.track_average(average);
    trainer.register_for_checkpointing("vocabulary", vocabulary);
    trainer.run();
  }
};

}  // namespace weft
