// ContinuationPrinter: prints generated text token by token.
#pragma once

#include <chrono>
#include <string>

#include <weft/train/text/generation/generate.hpp>
#include "examples/gpt/saved_model.hpp"

namespace weft::gpt {

class ContinuationPrinter {
 public:
  // If `stop` is not empty, generation ends at this string, which is not printed. The model must
  // outlive the object.
  ContinuationPrinter(const SavedModel& saved, std::string stop, const GenerateOptions& options);

  // Sets a smaller model that proposes `proposals` tokens at a time. It must outlive the object.
  // Throws ValueError if its vocabulary differs from the model's.
  void set_draft(const SavedModel& draft, Index proposals);

  // Prints the prompt, its continuation in whole characters, and a line break to standard output.
  // Throws the same exceptions as Tokenizer and `generate`. If the prompt is invalid, nothing is
  // printed.
  void print(const std::string& prompt, std::uint64_t seed);
  // Prints and returns the continuation of a prompt of tokens.
  std::string print_after(const TokenIds& ids, std::uint64_t seed);
  // Returns a line with the number of tokens and the speed, not counting the time for the prompts.
  // Further lines follow if there is a draft, with the number of accepted tokens, and if a text
  // became longer than the context.
  std::string report() const;

 private:
  using Clock = std::chrono::steady_clock;

  const SavedModel& saved_;
  const SavedModel* draft_ = nullptr;
  Index proposals_ = 0;
  std::string stop_;
  GenerateOptions options_;
  // Sums over all texts: the tokens, the tokens after the first of each text, and the time for the
  // latter.
  Index tokens_ = 0, timed_tokens_ = 0;
  Index proposed_ = 0, accepted_ = 0;
  std::chrono::duration<double> seconds_{0.0};
  bool has_forgotten_ = false;
};

}  // namespace weft::gpt
