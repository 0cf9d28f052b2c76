// Training of a pronunciation model.
#pragma once

#include <filesystem>
#include <vector>

#include <weft/train/trainer.hpp>
#include "examples/pronounce/language.hpp"
#include "examples/pronounce/model.hpp"

namespace weft::pronounce {

// The entries of a dictionary, by split.
struct Dataset {
  // The first process reads the file. Throws FileError when it cannot be read, or the training or
  // the validation split is empty.
  Dataset(const std::filesystem::path& dictionary, ProcessGroup& processes);

  std::vector<Entry> train, validation, test;
};

// Trains the model on dataset.train with the hyperparameters of the configuration, which is stored
// in checkpoints. Validation computes the loss on dataset.validation and the word error rate on its
// first 1000 words. Those of `options` that the configuration also contains are overwritten. Throws
// what Trainer::run throws.
TrainingResult train_model(Pronouncer<float>& model, Configuration& configuration,
                           const Language& language, const Dataset& dataset,
                           TrainerOptions options);

}  // namespace weft::pronounce
