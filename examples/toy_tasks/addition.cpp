#include "examples/toy_tasks/addition.hpp"

#include <algorithm>

#include <weft/autograd/error.hpp>
#include <weft/autograd/random.hpp>

namespace weft::toy_tasks {
namespace {

constexpr std::size_t max_digits = 5;
constexpr const char* digits = "0123456789";

// Returns `number` padded to `length` digits with leading zeros.
std::string padded(const std::string& number, std::size_t length) {
  return std::string(length - number.size(), '0') + number;
}

// Returns a number of at most n digits, with n uniform from 1 to 5.
Index sample_number(Random& random) {
  Index limit = 10;
  for (Index i = random.below(static_cast<Index>(max_digits)); i > 0; --i) limit *= 10;
  return random.below(limit);
}

Example sample_sum(Random& random) {
  const Index a = sample_number(random), b = sample_number(random);
  return {str_cat(a, '+', b), str_cat(a + b)};
}

std::string to_source(const std::string& question) {
  const std::size_t plus = std::min(question.find('+'), question.size());
  const std::string a = question.substr(0, plus);
  const std::string b = plus < question.size() ? question.substr(plus + 1) : "";
  for (const std::string& number : {a, b})
    if (number.empty() || number.size() > max_digits ||
        number.find_first_not_of(digits) != number.npos)
      fail<ValueError>("question",
                       str_cat("two numbers of 1 to ", max_digits, " digits such as 47+1234"),
                       "'" + question + "'");
  return padded(a, max_digits) + '+' + padded(b, max_digits);
}

std::string to_target(const std::string& answer) {
  const std::string target = padded(answer, max_digits + 1);
  return {target.rbegin(), target.rend()};
}

std::string from_target(const std::string& target) {
  const std::string number(target.rbegin(), target.rend());
  const std::size_t first = number.find_first_not_of('0');
  return first == number.npos ? "0" : number.substr(first);
}

}  // namespace

Task addition_task() {
  return {.name = "add",
          .about = "the sum of two numbers",
          .alphabet = std::string(digits) + "+",
          .max_len = static_cast<Index>(2 * max_digits + 1),
          .steps = 3000,
          .learning_rate = 2e-3,
          .sample = sample_sum,
          .to_source = to_source,
          .to_target = to_target,
          .from_target = from_target};
}

}  // namespace weft::toy_tasks
