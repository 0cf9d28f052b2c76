// ContinuationPrinter: prints what a model generates, as it is generated.
#pragma once

#include <chrono>
#include <string>

#include <weft/train/generation/generate.hpp>
#include "examples/gpt/saved_model.hpp"

namespace weft::gpt {

class ContinuationPrinter {
 public:
  // `stop`, when it is not empty, ends a text before the place where it would begin. The model must
  // outlive the object.
  ContinuationPrinter(const SavedModel& saved, std::string stop, const GenerateOptions& options);

  // Prints the prompt and its continuation to standard output, in whole characters, and a line
  // break. Throws what Tokenizer and `generate` throw, before anything is printed when the prompt
  // is the reason.
  void print(const std::string& prompt, std::uint64_t seed);
  // One line with the number of tokens and the speed without the time for the prompts, and a line
  // if a text has become longer than the context.
  std::string report() const;

 private:
  using Clock = std::chrono::steady_clock;

  const SavedModel& saved_;
  std::string stop_;
  GenerateOptions options_;
  // Of all texts: tokens, those of them that are not the first of a text, and the time that these
  // took.
  Index tokens_ = 0, timed_tokens_ = 0;
  std::chrono::duration<double> seconds_{0.0};
  bool has_forgotten_ = false;
};

}  // namespace weft::gpt
