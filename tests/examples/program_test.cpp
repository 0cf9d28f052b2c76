#include "examples/pronounce/program.hpp"

#include <fstream>
#include <regex>

#include "tests/catch.hpp"
#include "tests/examples/outcome.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

Outcome run(const std::vector<std::string>& arguments) {
  return outcome_of(pronounce::run_program, "pronounce", arguments);
}

// Words of one to three syllables, each letter said as its capital.
std::string small_dictionary() {
  const std::vector<std::string> syllables = {"ba", "do", "ki", "lu", "ne", "ti"};
  std::vector<std::string> words = syllables;
  for (const std::string& a : syllables)
    for (const std::string& b : syllables) {
      words.push_back(a + b);
      for (const std::string& c : syllables) words.push_back(a + b + c);
    }
  std::string text;
  for (const std::string& word : words) {
    text += word;
    for (const char c : word) text += std::string(" ") + static_cast<char>(c - 'a' + 'A');
    text += '\n';
  }
  return text;
}

// A folder with a dictionary, and what trains on it in no time.
struct Workshop {
  TemporaryFolder folder;
  std::string dictionary = (folder / "small.dict").string();
  std::string out = (folder / "out").string();
  std::string best = out + "/best.h5";

  Workshop() { std::ofstream(dictionary) << small_dictionary(); }

  Outcome train(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {
        "train", "--dictionary", dictionary, "--out",   out,  "--width",  "16", "--layers",
        "1",     "--heads",      "2",        "--batch", "16", "--epochs", "3",  "--warmup",
        "10",    "--lr",         "0.01"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
};

}  // namespace

TEST_CASE("pronounce: trains, and evaluates, says and draws with what it trained", "[examples]") {
  const Workshop workshop;
  const Outcome trained = workshop.train();
  INFO(trained.errors);
  REQUIRE(trained.status == 0);
  CHECK(contains(trained.output, "words to train on"));
  CHECK(contains(trained.output, workshop.best));

  const Outcome evaluated =
      run({"evaluate", "--model", workshop.best, "--dictionary", workshop.dictionary});
  REQUIRE(evaluated.status == 0);
  CHECK(std::regex_match(
      evaluated.output,
      std::regex(R"(word error rate \d+\.\d\d %  phone error rate \d+\.\d\d %  words \d+\n)")));
  CHECK(run({"evaluate", "--model", workshop.best, "--dictionary", workshop.dictionary, "--part",
             "validation", "--beam", "3"})
            .status == 0);

  const Outcome said = run({"say", "--model", workshop.best, "Bado", "lune"});
  CHECK(said.status == 0);
  CHECK(std::regex_match(said.output, std::regex("Bado  [A-Z ]*\nlune  [A-Z ]*\n")));
  const Outcome scored =
      run({"say", "--model", workshop.best, "--beam", "4", "--n-best", "2", "bado"});
  CHECK(std::regex_match(scored.output, std::regex("(bado  -?\\d+\\.\\d{3}  [A-Z ]*\n){2}")));

  const std::string picture = (workshop.folder / "heads.svg").string();
  const Outcome drawn = run({"attention", "--model", workshop.best, "--picture", picture, "bado"});
  CHECK(drawn.status == 0);
  CHECK(contains(drawn.output, picture));
  CHECK(std::filesystem::exists(workshop.folder / "heads.dat"));
}

TEST_CASE("pronounce: words that cannot be read are named, the others said", "[examples]") {
  const Workshop workshop;
  REQUIRE(workshop.train().status == 0);
  const Outcome said = run({"say", "--model", workshop.best, "bado", "naïve", "doba"});
  CHECK(said.status == 1);
  CHECK(contains(said.output, "bado  "));
  CHECK(contains(said.output, "doba  "));
  CHECK(is_one_line(said.errors));
  CHECK(contains(said.errors, "word 'naïve': expected letters that the model was trained with"));
}

TEST_CASE("pronounce: a training goes on only with the settings and words that it began with",
          "[examples]") {
  const Workshop workshop;
  REQUIRE(workshop.train({"--max-steps", "5"}).status == 0);
  const Outcome other = workshop.train({"--resume", "--heads", "4"});
  CHECK(other.status == 1);
  CHECK(contains(other.errors, "--heads: expected 2, got 4"));

  std::ofstream(workshop.dictionary, std::ios::app) << "zoo Z O O\nzzz Z\nzza Z A\nzzo Z O\n";
  const Outcome extended = workshop.train({"--resume"});
  CHECK(extended.status == 1);
  CHECK(contains(extended.errors, "expected the letters and phones of the checkpoint"));

  std::ofstream(workshop.dictionary) << small_dictionary();
  const Outcome resumed = workshop.train({"--resume"});
  INFO(resumed.errors);
  CHECK(resumed.status == 0);
}

TEST_CASE("pronounce: what cannot work is said in one line", "[examples]") {
  const Workshop workshop;
  const auto complaint = [](const Outcome& outcome, int status) {
    CHECK(outcome.status == status);
    CHECK(is_one_line(outcome.errors));
    return outcome.errors;
  };
  CHECK(contains(complaint(run({"sing"}), 2), "expected a command, got 'sing'"));
  CHECK(contains(complaint(run({"train", "--speed", "3"}), 2), "speed"));
  CHECK(contains(complaint(run({"train", "--width", "0"}), 2), "option --width"));
  CHECK(contains(complaint(run({"attention"}), 2), "expected one word, got 0"));
  CHECK(contains(complaint(workshop.train({"--heads", "3"}), 1),
                 "heads: expected a divisor of the width 16, got 3"));
  CHECK(contains(complaint(run({"train", "--dictionary", "no/such.dict"}), 1), "no/such.dict"));
  CHECK(contains(complaint(run({"say", "--model", "no/such.h5", "a"}), 1), "no/such.h5"));
  CHECK(contains(complaint(run({"say", "--model", workshop.dictionary, "a"}), 1), "small.dict"));
  CHECK(contains(complaint(workshop.train({"--out", "/dev/null/out"}), 1), "/dev/null"));
  CHECK(run({}).status == 2);
}

TEST_CASE("pronounce: each command has help", "[examples]") {
  for (const char* command : {"train", "evaluate", "say", "gradcheck", "attention"}) {
    const Outcome help = run({command, "--help"});
    CHECK(help.status == 0);
    CHECK(contains(help.output, std::string("pronounce ") + command));
    CHECK(contains(help.output, "--threads"));
    CHECK(contains(run({"--help"}).output, std::string("  ") + command));
  }
}

TEST_CASE("pronounce: every gradient of a small instance agrees", "[examples]") {
  const Outcome checked = run({"gradcheck", "--layers", "1", "--width", "4"});
  INFO(checked.output << checked.errors);
  CHECK(checked.status == 0);
  CHECK(contains(checked.output, "decoder.0.cross_attention.W_q.weight"));
  CHECK(contains(checked.output, "gradients agree"));
}
