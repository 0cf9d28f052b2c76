// ProcessedLogits: the logits from which a token is sampled, after the changes that options ask
// for.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "weft/train/text/generation/generate.hpp"

namespace weft {

// Applies `min_tokens` and `process_logits` of GenerateOptions, which must outlive the object.
template <class T>
class ProcessedLogits {
 public:
  explicit ProcessedLogits(const GenerateOptions& options) : options_(options) {}

  // Returns the logits of the token after `context`, of which `generated` tokens follow the prompt.
  // The result is valid until the next call.
  std::span<const T> operator()(std::span<const T> logits, Index prompt,
                                std::span<const TokenId> context, Index generated) {
    const bool is_short = generated < options_.min_tokens && !options_.eos_token_ids.empty();
    if (!is_short && !options_.process_logits) return logits;
    changed_.assign(logits.begin(), logits.end());
    if (options_.process_logits) {
      doubles_.assign(logits.begin(), logits.end());
      options_.process_logits(prompt, context, doubles_);
      for (std::size_t i = 0; i < doubles_.size(); ++i) changed_[i] = static_cast<T>(doubles_[i]);
    }
    for (const TokenId token : options_.eos_token_ids)
      if (is_short && token >= 0 && token < std::ssize(changed_))
        changed_[static_cast<std::size_t>(token)] = -std::numeric_limits<T>::infinity();
    return changed_;
  }

 private:
  const GenerateOptions& options_;
  std::vector<T> changed_;
  std::vector<double> doubles_;
};

}  // namespace weft
