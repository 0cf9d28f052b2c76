// How well a model predicts a text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "examples/gpt/saved_model.hpp"

namespace weft::gpt {

// Of a text or a part of one.
struct TextLoss {
  Index tokens = 0;  // that were predicted
  double nats = 0.0;
  std::size_t bytes = 0;

  // Cross entropy per token; NaN without tokens, as the others.
  double mean() const;
  double perplexity() const;
  double bits_per_byte() const;
  // "loss 1.4821 per token, perplexity 4.40, 2.138 bits per byte, 111539 tokens, 111540 bytes".
  std::string to_string() const;
};

// Predicts each token but the first one once, in consecutive windows of the model's context, from
// the tokens before it in its window. Returns the losses of the lines, of which each has its line
// break; a token belongs to the line that it begins in. Throws ValueError for a text of fewer than
// two tokens, and as Tokenizer::encode does.
std::vector<TextLoss> losses_of_lines(const SavedModel& saved, std::string_view text);

TextLoss sum_of(const std::vector<TextLoss>& losses);

}  // namespace weft::gpt
