// Training: a model learns the words of a dictionary as its configuration says.
#pragma once

#include <filesystem>
#include <vector>

#include <weft/train/trainer.hpp>
#include "examples/pronounce/language.hpp"
#include "examples/pronounce/model.hpp"

namespace weft::pronounce {

// The words of each part of a dictionary.
struct Words {
  // Throws FileError when the file cannot be read, or there is no word to train on or to validate
  // with.
  explicit Words(const std::filesystem::path& dictionary);

  std::vector<Entry> train, validation, test;
};

// Trains the model on words.train, with the optimizer, the schedule and the batches of its
// configuration, which checkpoints keep, and validates it by its loss on all of words.validation
// and the word error rate on some. Of `options` those that the configuration does not tell are
// taken: where to keep files, whether to resume, where to show progress, when to end. Throws what
// Trainer::run does.
TrainingResult train_model(Pronouncer<float>& model, Configuration& configuration,
                           const Language& language, const Words& words, TrainerOptions options);

}  // namespace weft::pronounce
