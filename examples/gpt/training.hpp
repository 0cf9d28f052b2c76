// Training of a language model.
#pragma once

#include <weft/train/data/vocabulary.hpp>
#include <weft/train/trainer.hpp>
#include "examples/gpt/configuration.hpp"
#include "examples/gpt/tokenizer.hpp"

namespace weft::gpt {

// The tokens of a text.
struct TokenSplit {
  TokenIds training, validation;
};

// Trains the model on windows that start at random places of tokens.training, with the
// hyperparameters of the configuration, which checkpoints contain along with the tokenizer, and
// validates it on windows
// of tokens.validation; the report has samples of what it writes. Those of `options` that the
// configuration also contains are overwritten. Throws ValueError for tokens that are not enough for
// one window, and what Trainer::run throws.
TrainingResult train_model(Gpt<float>& model, Configuration& configuration,
                           const Tokenizer& tokenizer, const TokenSplit& tokens,
                           TrainerOptions options);

}  // namespace weft::gpt
