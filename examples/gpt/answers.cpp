#include "examples/gpt/answers.hpp"

#include <algorithm>

#include <weft/autograd/error.hpp>
#include <weft/train/text/generation/generate.hpp>

namespace weft::gpt {
namespace {

// With a fixed number of prompts, rounding does not depend on the other prompts (see generate).
constexpr std::size_t batch_size = 16;
constexpr Index more_tokens = 32;

}  // namespace

std::vector<Question> questions_of(const SavedModel& saved, const std::vector<LearnedText>& texts) {
  const TokenIds& ends = saved.eos_token_ids;
  std::vector<Question> questions;
  for (const auto& [tokens, learned] : texts) {
    std::size_t end = tokens.size();
    while (end > 0 && !learned[end - 1]) --end;
    std::size_t begin = end;
    while (begin > 0 && learned[begin - 1]) --begin;
    if (begin == 0) continue;
    Question question{TokenIds(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(begin)),
                      "", 0};
    for (; begin < end && std::ranges::find(ends, tokens[begin]) == ends.end(); ++begin) {
      question.expected += saved.tokenizer.token(tokens[begin]);
      ++question.length;
    }
    questions.push_back(std::move(question));
  }
  return questions;
}

std::vector<std::string> answers_to(std::span<const Question> questions, const SavedModel& saved) {
  std::vector<std::string> answers;
  for (; !questions.empty();
       questions = questions.subspan(std::min(batch_size, questions.size()))) {
    const auto batch = questions.first(std::min(batch_size, questions.size()));
    std::vector<TokenIds> prompts;
    std::vector<Index> left;
    for (const Question& question : batch) {
      prompts.push_back(question.prompt);
      left.push_back(question.length + more_tokens);
    }
    const std::size_t first = answers.size();
    answers.resize(first + batch.size());
    static_cast<void>(generate(saved.model, prompts,
                               {.max_tokens = std::ranges::max(left),
                                .sampling = {.temperature = 0.0},
                                .eos_token_ids = saved.eos_token_ids,
                                .on_token =
                                    [&](Index prompt, TokenId token) {
                                      const auto index = static_cast<std::size_t>(prompt);
                                      answers[first + index] += saved.tokenizer.token(token);
                                      return --left[index] > 0;
                                    },
                                .max_context = saved.context()}));
  }
  return answers;
}

std::string comparison(const Question& question, const std::string& answer) {
  if (answer == question.expected) return printable("right: " + answer);
  return printable("wrong: " + answer + ", expected " + question.expected);
}

}  // namespace weft::gpt
