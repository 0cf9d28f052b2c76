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
  return training_examples(task_named(task), 2000, 7);
}

// What the task says to something that is not one of its questions.
std::string complaint(const std::string& task, const std::string& question) {
  return message_of<ValueError>([&] { task_named(task).spell_question(question); });
}

std::set<std::string> answers_of(const std::vector<Example>& examples) {
  std::set<std::string> answers;
  for (const Example& example : examples) answers.insert(example.answer);
  return answers;
}

}  // namespace

TEST_CASE("toy tasks: the answers are right", "[examples]") {
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

TEST_CASE("toy tasks: every length is asked for as often", "[examples]") {
  for (const auto& [name, longest] : {std::pair{"copy", 16}, std::pair{"sort", 12}}) {
    std::vector<double> count(static_cast<std::size_t>(longest) + 1);
    for (const Example& example : some_examples(name)) ++count.at(example.question.size());
    CHECK(count[0] == 0.0);
    for (std::size_t length = 1; length < count.size(); ++length)
      CHECK(std::abs(count[length] / 2000.0 - 1.0 / longest) < 0.025);
  }
}

TEST_CASE("toy tasks: what the model reads and writes fits it, and is read back", "[examples]") {
  for (const Task& task : all_tasks())
    for (const Example& example : training_examples(task, 500, 3)) {
      const std::string question = task.spell_question(example.question);
      const std::string answer = task.spell_answer(example.answer);
      CHECK(static_cast<Index>(std::max(question.size(), answer.size())) <= task.longest);
      CHECK((question + answer).find_first_not_of(task.alphabet) == std::string::npos);
      CHECK(task.read_answer(answer) == example.answer);
    }
}

TEST_CASE("toy tasks: sums are read with five digits and written from the units up", "[examples]") {
  const Task& add = task_named("add");
  CHECK(add.spell_question("47+1234") == "00047+01234");
  CHECK(add.spell_question("99999+0") == "99999+00000");
  CHECK(add.spell_answer("1281") == "182100");
  CHECK(add.read_answer("182100") == "1281");
  CHECK(add.read_answer("000000") == "0");
}

TEST_CASE("toy tasks: no held-out answer is one of training or of the other part", "[examples]") {
  for (const Task& task : all_tasks()) {
    INFO(task.name);
    const auto train = training_examples(task, 5000, 1);
    const auto validation = held_out_examples(task, Split::validation, 200, 1);
    const auto test = held_out_examples(task, Split::test, 1000, 1);
    std::set<std::string> questions;
    for (const Example& example : test) questions.insert(example.question);
    CHECK(questions.size() == 1000);
    const std::set<std::string> seen = answers_of(train), validated = answers_of(validation);
    for (const std::string& answer : answers_of(test)) {
      CHECK(seen.count(answer) == 0);
      CHECK(validated.count(answer) == 0);
    }
    for (const std::string& answer : validated) CHECK(seen.count(answer) == 0);
  }
  CHECK(contains(
      message_of<ValueError>([] { held_out_examples(task_named("copy"), Split::train, 1, 1); }),
      "held-out examples: expected the part validation or test, got train"));
}

TEST_CASE("toy tasks: the seed decides the examples", "[examples]") {
  const auto questions = [](std::uint64_t seed) {
    std::vector<std::string> found;
    for (const Example& example : training_examples(task_named("dates"), 50, seed))
      found.push_back(example.question);
    return found;
  };
  CHECK(questions(1) == questions(1));
  CHECK(questions(1) != questions(2));
}

TEST_CASE("toy tasks: what is not a question is said", "[examples]") {
  CHECK(complaint("reverse", "Weft") ==
        "question: expected 1 … 16 characters out of abcdefghijklmnopqrstuvwxyz, got 'Weft'");
  CHECK(contains(complaint("copy", ""), "got ''"));
  CHECK(contains(complaint("copy", std::string(17, 'a')), "expected 1 … 16 characters"));
  CHECK(contains(complaint("sort", "1234567890123"), "expected 1 … 12 characters out of 01"));
  for (const char* question :
       {"", "12", "12+", "+12", "12+x", "1+2+3", "123456+1", "1 + 2", "-1+2"})
    CHECK(complaint("add", question) ==
          concatenate_text("question: expected two numbers of 1 … 5 digits as in 47+1234, got '",
                           question, "'"));
  CHECK(contains(complaint("dates", "3 März 1998"), "question: expected a date of at most 32"));
  CHECK(contains(complaint("dates", std::string(33, '1')), "of at most 32"));
  CHECK(message_of<ValueError>([] { task_named("divide"); }) ==
        "task: expected one of copy, reverse, sort, add, dates, got 'divide'");
}
