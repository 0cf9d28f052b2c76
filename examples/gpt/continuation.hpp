// ContinuationPrinter: prints what a model generates, as it is generated.
#pragma once

#include <chrono>
#include <string>

#include <weft/train/text/generation/generate.hpp>
#include "examples/gpt/saved_model.hpp"

namespace weft::gpt {

class ContinuationPrinter {
 public:
  // `stop`, when it is not empty, ends a text before the place where it would begin. The model must
  // outlive the object.
  ContinuationPrinter(const SavedModel& saved, std::string stop, const GenerateOptions& options);

  // Lets a smaller model, which must outlive the object, propose so many tokens at a time. Throws
  // ValueError when it has other tokens.
  void set_draft(const SavedModel& draft, Index proposals);

  // Prints the prompt and its continuation to standard output, in whole characters, and a line
  // break. Throws what Tokenizer and `generate` throw, before anything is printed when the prompt
  // is the reason.
  void print(const std::string& prompt, std::uint64_t seed);
  // Prints the continuation of tokens, and returns it.
  std::string print_after(const TokenIds& ids, std::uint64_t seed);
  // One line with the number of tokens and the speed without the time for the prompts, a line with
  // how many tokens of a draft were accepted, and one if a text has become longer than the context.
  std::string report() const;

 private:
  using Clock = std::chrono::steady_clock;

  const SavedModel& saved_;
  const SavedModel* draft_ = nullptr;
  Index proposals_ = 0;
  std::string stop_;
  GenerateOptions options_;
  // Of all texts: tokens, those of them that are not the first of a text, and the time that these
  // took.
  Index tokens_ = 0, timed_tokens_ = 0;
  Index proposed_ = 0, accepted_ = 0;
  std::chrono::duration<double> seconds_{0.0};
  bool has_forgotten_ = false;
};

}  // namespace weft::gpt
