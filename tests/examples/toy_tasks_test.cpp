#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <weft/autograd/error.hpp>
#include "examples/toy_tasks/task.hpp"
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;
using namespace weft::toy_tasks;
using examples::Split;

namespace {

std::vector<Example> some_examples(const std::string& task) {
  return training_examples(find_task(task), 2000, 7);
}

// The error message for an invalid question.
std::string error_for(const std::string& task, const std::string& question) {
  return message_of<ValueError>([&] { find_task(task).to_source(question); });
}

std::set<std::string> answers_of(const std::vector<Example>& examples) {
  std::set<std::string> answers;
  for (const Example& example : examples) answers.insert(example.answer);
  return answers;
}

}  // namespace

TEST_CASE("toy tasks: the sampled answers are correct", "[examples]") {
  for (const auto& [question, answer] : some_examples("copy")) CHECK(answer == question);
  for (const auto& [question, answer] : some_examples("reverse")) {
    REQUIRE(answer.size() == question.size());
    for (std::size_t i = 0; i < answer.size(); ++i)
      CHECK(answer[i] == question[question.size() - 1 - i]);
  }
  for (const auto& [question, answer] : some_examples("sort")) {
    REQUIRE(answer.size() == question.size());
    for (std::size_t i = 1; i < answer.size(); ++i) CHECK(answer[i - 1] <= answer[i]);
    for (char digit = '0'; digit <= '9'; ++digit)
      CHECK(std::count(answer.begin(), answer.end(), digit) ==
            std::count(question.begin(), question.end(), digit));
  }
  for (const auto& [question, answer] : some_examples("add")) {
    const std::size_t plus = question.find('+');
    CHECK(std::stol(question.substr(0, plus)) + std::stol(question.substr(plus + 1)) ==
          std::stol(answer));
  }
}

TEST_CASE("toy tasks: lengths are uniformly distributed", "[examples]") {
  for (const auto& [name, max_len] : {std::pair{"copy", 16}, std::pair{"sort", 12}}) {
    std::vector<double> count(static_cast<std::size_t>(max_len) + 1);
    for (const Example& example : some_examples(name)) ++count.at(example.question.size());
    CHECK(count[0] == 0.0);
    for (std::size_t length = 1; length < count.size(); ++length)
      CHECK(std::abs(count[length] / 2000.0 - 1.0 / max_len) < 0.025);
  }
}

TEST_CASE("toy tasks: sources and targets fit the model, and from_target inverts to_target",
          "[examples]") {
  for (const Task& task : all_tasks())
    for (const Example& example : training_examples(task, 500, 3)) {
      const std::string source = task.to_source(example.question);
      const std::string target = task.to_target(example.answer);
      CHECK(static_cast<Index>(std::max(source.size(), target.size())) <= task.max_len);
      CHECK((source + target).find_first_not_of(task.alphabet) == std::string::npos);
      CHECK(task.from_target(target) == example.answer);
    }
}

TEST_CASE("toy tasks: numbers are padded to five digits and sums start with the units",
          "[examples]") {
  const Task& add = find_task("add");
  CHECK(add.to_source("47+1234") == "00047+01234");
  CHECK(add.to_source("99999+0") == "99999+00000");
  CHECK(add.to_target("1281") == "182100");
  CHECK(add.from_target("182100") == "1281");
  CHECK(add.from_target("000000") == "0");
}

TEST_CASE("toy tasks: the splits have no answers in common", "[examples]") {
  for (const Task& task : all_tasks()) {
    INFO(task.name);
    const auto train = training_examples(task, 5000, 1);
    const auto validation = held_out_examples(task, Split::validation, 200, 1);
    const auto test = held_out_examples(task, Split::test, 1000, 1);
    std::set<std::string> questions;
    for (const Example& example : test) questions.insert(example.question);
    CHECK(questions.size() == 1000);
    const std::set<std::string> train_answers = answers_of(train),
                                validation_answers = answers_of(validation);
    for (const std::string& answer : answers_of(test)) {
      CHECK(train_answers.count(answer) == 0);
      CHECK(validation_answers.count(answer) == 0);
    }
    for (const std::string& answer : validation_answers) CHECK(train_answers.count(answer) == 0);
  }
  CHECK(contains(
      message_of<ValueError>([] { held_out_examples(find_task("copy"), Split::train, 1, 1); }),
      "held-out examples: expected the split validation or test, got train"));
}

TEST_CASE("toy tasks: the examples depend on the seed", "[examples]") {
  const auto questions = [](std::uint64_t seed) {
    std::vector<std::string> result;
    for (const Example& example : training_examples(find_task("dates"), 50, seed))
      result.push_back(example.question);
    return result;
  };
  CHECK(questions(1) == questions(1));
  CHECK(questions(1) != questions(2));
}

TEST_CASE("toy tasks: invalid questions and task names are errors", "[examples]") {
  CHECK(error_for("reverse", "Weft") ==
        "question: expected 1 to 16 characters of abcdefghijklmnopqrstuvwxyz, got 'Weft'");
  CHECK(contains(error_for("copy", ""), "got ''"));
  CHECK(contains(error_for("copy", std::string(17, 'a')), "expected 1 to 16 characters"));
  CHECK(contains(error_for("sort", "1234567890123"), "expected 1 to 12 characters of 01"));
  for (const char* question :
       {"", "12", "12+", "+12", "12+x", "1+2+3", "123456+1", "1 + 2", "-1+2"})
    CHECK(error_for("add", question) ==
          str_cat("question: expected two numbers of 1 to 5 digits such as 47+1234, got '",
                  question, "'"));
  CHECK(contains(error_for("dates", "3 März 1998"), "question: expected a date of at most 32"));
  CHECK(contains(error_for("dates", std::string(33, '1')), "of at most 32"));
  CHECK(message_of<ValueError>([] { find_task("divide"); }) ==
        "task: expected one of copy, reverse, sort, add, dates, got 'divide'");
}
