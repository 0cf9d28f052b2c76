#include "examples/toy_tasks/addition.hpp"

#include <algorithm>

#include <weft/autograd/error.hpp>
#include <weft/autograd/random.hpp>

namespace weft::toy_tasks {
namespace {

constexpr std::size_t max_digits = 5;
constexpr const char* digits = "0123456789";

// `number` with zeros in front, `length` digits in all.
std::string padded(const std::string& number, std::size_t length) {
  return std::string(length - number.size(), '0') + number;
}

// A number whose count of digits is uniform over 1 … 5.
Index draw_number(Random& random) {
  Index limit = 10;
  for (Index more = random.below(static_cast<Index>(max_digits)); more > 0; --more) limit *= 10;
  return random.below(limit);
}

Example draw_sum(Random& random) {
  const Index a = draw_number(random), b = draw_number(random);
  return {concatenate_text(a, '+', b), concatenate_text(a + b)};
}

std::string spell_question(const std::string& question) {
  const std::size_t plus = std::min(question.find('+'), question.size());
  const std::string a = question.substr(0, plus);
  const std::string b = plus < question.size() ? question.substr(plus + 1) : "";
  for (const std::string& number : {a, b})
    if (number.empty() || number.size() > max_digits ||
        number.find_first_not_of(digits) != number.npos)
      fail<ValueError>("question",
                       concatenate_text("two numbers of 1 … ", max_digits, " digits as in 47+1234"),
                       "'" + question + "'");
  return padded(a, max_digits) + '+' + padded(b, max_digits);
}

std::string spell_answer(const std::string& answer) {
  const std::string spelled = padded(answer, max_digits + 1);
  return {spelled.rbegin(), spelled.rend()};
}

std::string read_answer(const std::string& spelled) {
  const std::string number(spelled.rbegin(), spelled.rend());
  const std::size_t first = number.find_first_not_of('0');
  return first == number.npos ? "0" : number.substr(first);
}

}  // namespace

Task addition_task() {
  return {.name = "add",
          .about = "the sum of two numbers",
          .alphabet = std::string(digits) + "+",
          .longest = static_cast<Index>(2 * max_digits + 1),
          .steps = 3000,
          .learning_rate = 2e-3,
          .draw = draw_sum,
          .spell_question = spell_question,
          .spell_answer = spell_answer,
          .read_answer = read_answer};
}

}  // namespace weft::toy_tasks
