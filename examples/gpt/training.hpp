// Training of a language model.
#pragma once

#include <weft/train/data/vocabulary.hpp>
#include <weft/train/trainer.hpp>
#include "examples/gpt/configuration.hpp"
#include "examples/gpt/tokenizer.hpp"

namespace weft::gpt {

// The tokens of a text, split for training and validation.
struct TokenSplit {
  TokenIds training, validation;
};

// Trains the model on windows at random positions of tokens.training, and validates it on windows
// of tokens.validation. The hyperparameters of the configuration replace those in `options`.
// Checkpoints contain the configuration and the tokenizer. The report contains text that the model
// generates. Throws ValueError if there are too few tokens for a window, and the same exceptions as
// Trainer::run.
TrainingResult train_model(Gpt<float>& model, Configuration& configuration,
                           const Tokenizer& tokenizer, const TokenSplit& tokens,
                           TrainerOptions options);

}  // namespace weft::gpt
