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
  // Reads the file in the root process and sends it to the other processes. Throws FileError if the
  // file cannot be read, or if the training or the validation split is empty.
  Dataset(const std::filesystem::path& dictionary, ProcessGroup& processes);

  std::vector<Entry> train, validation, test;
};

// Trains the model on dataset.train with the hyperparameters of the configuration, which replace
// those in `options`. Checkpoints store the configuration. Validations compute the loss on
// dataset.validation and the word error rate on its first 1000 words. Throws the same exceptions as
// Trainer::run.
TrainingResult train_model(Pronouncer<float>& model, Configuration& configuration,
                           const Language& language, const Dataset& dataset,
                           TrainerOptions options);

}  // namespace weft::pronounce
