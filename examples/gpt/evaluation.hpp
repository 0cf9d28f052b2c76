// Evaluation of how well a model predicts a text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "examples/gpt/saved_model.hpp"

namespace weft::gpt {

// The loss of a text or a part of a text.
struct TextLoss {
  Index tokens = 0;   // number of predicted tokens
  double nats = 0.0;  // sum of the cross entropies of the tokens
  std::size_t bytes = 0;

  // Return the cross entropy per token, the perplexity, and the bits per byte; NaN without tokens.
  double mean() const;
  double perplexity() const;
  double bits_per_byte() const;
  // Returns "loss 1.4821 per token, perplexity 4.4022, 2.1382 bits per byte, 111539 tokens, 111540
  // bytes".
  std::string to_string() const;
};

// Returns the loss of each line, including its line break. Each token except the first is predicted
// once, from the tokens before it in consecutive windows of the model's context. A token belongs to
// the line in which it begins. Throws ValueError for a text of fewer than two tokens, and the same
// exceptions as Tokenizer::encode.
std::vector<TextLoss> losses_of_lines(const SavedModel& saved, std::string_view text);

// Returns the loss of several parts of a text together.
TextLoss sum_of(const std::vector<TextLoss>& losses);

}  // namespace weft::gpt
