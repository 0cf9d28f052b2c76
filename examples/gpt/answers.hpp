// Answers of a model to the prompts of fine-tuning data.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <weft/train/data/packed.hpp>
#include "examples/gpt/saved_model.hpp"

namespace weft::gpt {

// A prompt and its expected answer.
struct Question {
  TokenIds prompt;       // everything before the answer
  std::string expected;  // the expected answer
  Index length;          // the length of the expected answer, in tokens
};

// Returns the last answer of each example, with everything before it as the prompt. Examples that
// do not begin with a prompt are skipped.
std::vector<Question> questions_of(const SavedModel& saved, const std::vector<LearnedText>& texts);

// Generates answers with temperature 0. An answer ends at most 32 tokens after the length of the
// expected answer.
std::vector<std::string> answers_to(std::span<const Question> questions, const SavedModel& saved);

// Returns "right: ANSWER", or "wrong: ANSWER, expected EXPECTED", as one line.
std::string comparison(const Question& question, const std::string& answer);

}  // namespace weft::gpt
