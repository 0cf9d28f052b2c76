#include "examples/toy_tasks/rearrangements.hpp"

#include <algorithm>

#include <weft/autograd/error.hpp>
#include <weft/autograd/random.hpp>

namespace weft::toy_tasks {
namespace {

constexpr const char* letters = "abcdefghijklmnopqrstuvwxyz";
constexpr const char* digits = "0123456789";

std::string reversed(std::string text) {
  std::reverse(text.begin(), text.end());
  return text;
}

std::string sorted(std::string text) {
  std::sort(text.begin(), text.end());
  return text;
}

// Returns a task whose questions are random strings of 1 to `max_len` characters, with uniformly
// distributed lengths and characters. The answer is rearrange(question).
Task rearrangement(const std::string& name, const std::string& about, const std::string& alphabet,
                   Index max_len, std::string (*rearrange)(std::string)) {
  Task task{.name = name, .about = about, .alphabet = alphabet, .max_len = max_len};
  task.sample = [alphabet, max_len, rearrange](Random& random) {
    std::string text(static_cast<std::size_t>(1 + random.below(max_len)), ' ');
    for (char& c : text)
      c = alphabet[static_cast<std::size_t>(random.below(static_cast<Index>(alphabet.size())))];
    return Example{text, rearrange(text)};
  };
  task.to_source = [alphabet, max_len](const std::string& question) {
    if (question.empty() || static_cast<Index>(question.size()) > max_len ||
        question.find_first_not_of(alphabet) != question.npos)
      fail<ValueError>("question", str_cat("1 to ", max_len, " characters of ", alphabet),
                       "'" + question + "'");
    return question;
  };
  return task;
}

}  // namespace

Task copy_task() {
  Task task = rearrangement("copy", "letters, unchanged", letters, 16,
                            [](std::string text) { return text; });
  task.steps = 1500;
  task.learning_rate = 2e-3;
  return task;
}

Task reverse_task() {
  Task task = rearrangement("reverse", "letters in reverse order", letters, 16, reversed);
  task.steps = 2500;
  task.learning_rate = 2e-3;
  return task;
}

Task sort_task() {
  Task task = rearrangement("sort", "digits in ascending order", digits, 12, sorted);
  task.steps = 1500;
  task.learning_rate = 1e-3;
  return task;
}

}  // namespace weft::toy_tasks
