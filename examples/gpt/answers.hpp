// Answers: what a model answers to the prompts of data for fine-tuning.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <weft/train/data/packed.hpp>
#include "examples/gpt/saved_model.hpp"

namespace weft::gpt {

struct Question {
  TokenIds prompt;       // everything before the answer
  std::string expected;  // the answer
  Index length;          // of the answer, in tokens
};

// The last answer of each text; none of texts that do not begin with a prompt.
std::vector<Question> questions_of(const SavedModel& saved, const std::vector<LearnedText>& texts);

// The most probable answers, which are cut at 32 tokens more than expected.
std::vector<std::string> answers_to(std::span<const Question> questions, const SavedModel& saved);

// "right: …", or "wrong: …, expected …", in one line.
std::string comparison(const Question& question, const std::string& answer);

}  // namespace weft::gpt
