#include "examples/pronounce/program.hpp"

#include <fstream>
#include <regex>

#include <weft/autograd/error.hpp>
#include "examples/pronounce/configuration.hpp"
#include "tests/catch.hpp"
#include "tests/examples/earlier_checkpoint.hpp"
#include "tests/examples/outcome.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

Outcome run(const std::vector<std::string>& arguments) {
  return outcome_of(pronounce::run_program, "pronounce", arguments);
}

// Words of one to three syllables; the phone of each letter is its capital.
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

// A directory with a small dictionary, and a fast training on it.
struct TrainingFixture {
  TemporaryFolder directory;
  std::string dictionary = (directory / "small.dict").string();
  std::string out = (directory / "out").string();
  std::string best = out + "/best.h5";

  TrainingFixture() { std::ofstream(dictionary) << small_dictionary(); }

  Outcome train(std::vector<std::string> extra_arguments = {}) const {
    std::vector<std::string> arguments = {
        "train", "--dictionary", dictionary, "--out",   out,  "--width",  "16", "--layers",
        "1",     "--heads",      "2",        "--batch", "16", "--epochs", "3",  "--warmup",
        "10",    "--lr",         "0.01"};
    arguments.insert(arguments.end(), extra_arguments.begin(), extra_arguments.end());
    return run(arguments);
  }
};

}  // namespace

TEST_CASE("pronounce: trains a model, evaluates it, pronounces words and draws attention",
          "[examples]") {
  const TrainingFixture fixture;
  const Outcome trained = fixture.train();
  INFO(trained.errors);
  REQUIRE(trained.status == 0);
  CHECK(contains(trained.output, "training words"));
  CHECK(contains(trained.output, fixture.best));

  const Outcome evaluated =
      run({"evaluate", "--model", fixture.best, "--dictionary", fixture.dictionary});
  REQUIRE(evaluated.status == 0);
  CHECK(std::regex_match(
      evaluated.output,
      std::regex(R"(word error rate \d+\.\d\d %  phone error rate \d+\.\d\d %  words \d+\n)")));
  CHECK(run({"evaluate", "--model", fixture.best, "--dictionary", fixture.dictionary, "--split",
             "validation", "--beam", "3"})
            .status == 0);

  const Outcome pronounced = run({"say", "--model", fixture.best, "Bado", "lune"});
  CHECK(pronounced.status == 0);
  CHECK(std::regex_match(pronounced.output, std::regex("Bado  [A-Z ]*\nlune  [A-Z ]*\n")));
  const Outcome scored =
      run({"say", "--model", fixture.best, "--beam", "4", "--n-best", "2", "bado"});
  CHECK(std::regex_match(scored.output, std::regex("(bado  -?\\d+\\.\\d{3}  [A-Z ]*\n){2}")));

  const std::string picture = (fixture.directory / "heads.svg").string();
  const Outcome drawn = run({"attention", "--model", fixture.best, "--picture", picture, "bado"});
  CHECK(drawn.status == 0);
  CHECK(contains(drawn.output, picture));
  CHECK(std::filesystem::exists(fixture.directory / "heads.dat"));
}

TEST_CASE("pronounce: prints an error for invalid words and pronounces the others", "[examples]") {
  const TrainingFixture fixture;
  REQUIRE(fixture.train().status == 0);
  const Outcome pronounced = run({"say", "--model", fixture.best, "bado", "naïve", "doba"});
  CHECK(pronounced.status == 1);
  CHECK(contains(pronounced.output, "bado  "));
  CHECK(contains(pronounced.output, "doba  "));
  CHECK(is_one_line(pronounced.errors));
  CHECK(contains(pronounced.errors, "word 'naïve': expected letters in the model's vocabulary"));
}

TEST_CASE("pronounce: training resumes from a checkpoint of weft 0.2", "[examples]") {
  const std::vector<std::string> earlier = {"--muon=false",    "--rms-norm=false",
                                            "--qk-norm=false", "--squared-relu=false",
                                            "--decay",         "0",
                                            "--beta2",         "0.999"};
  const auto with = [&](const char* option, const char* value) {
    std::vector<std::string> all = earlier;
    all.emplace_back(option);
    if (value) all.emplace_back(value);
    return all;
  };
  const TrainingFixture at_once, in_two;
  REQUIRE(at_once.train(earlier).status == 0);
  REQUIRE(in_two.train(with("--max-steps", "5")).status == 0);
  CHECK(make_earlier<pronounce::Configuration>(in_two.out + "/last.h5") == 8);
  const Outcome resumed = in_two.train({"--resume"});
  INFO(resumed.errors);
  REQUIRE(resumed.status == 0);
  CHECK(contains(resumed.output, "AdamW"));
  CHECK((bytes_of(in_two.out + "/last.h5") == bytes_of(at_once.out + "/last.h5")));
  CHECK(contains(in_two.train(with("--resume", nullptr)).output, "AdamW"));
  CHECK(contains(in_two.train({"--resume", "--muon"}).errors, "--muon: expected 0, got 1"));
  make_earlier<pronounce::Configuration>(in_two.best);
  CHECK(run({"say", "--model", in_two.best, "bado"}).status == 0);
}

TEST_CASE("pronounce: training resumes only with the same settings and vocabularies",
          "[examples]") {
  const TrainingFixture fixture;
  REQUIRE(fixture.train({"--max-steps", "5"}).status == 0);
  const Outcome other = fixture.train({"--resume", "--heads", "4"});
  CHECK(other.status == 1);
  CHECK(contains(other.errors, "--heads: expected 2, got 4"));

  std::ofstream(fixture.dictionary, std::ios::app) << "zoo Z O O\nzzz Z\nzza Z A\nzzo Z O\n";
  const Outcome extended = fixture.train({"--resume"});
  CHECK(extended.status == 1);
  CHECK(contains(extended.errors, "expected the letters and phones of the checkpoint"));

  std::ofstream(fixture.dictionary) << small_dictionary();
  const Outcome resumed = fixture.train({"--resume"});
  INFO(resumed.errors);
  CHECK(resumed.status == 0);
}

TEST_CASE("pronounce: training does not start over beside a best model", "[examples]") {
  const TrainingFixture fixture;
  REQUIRE(fixture.train().status == 0);
  const std::string best = bytes_of(fixture.best), metrics = bytes_of(fixture.out + "/metrics.csv");
  const std::filesystem::path last = fixture.out + "/last.h5";
  std::filesystem::remove(last);
  for (const char* target : {"", "last.h5", "missing.h5"}) {
    if (*target) std::filesystem::create_symlink(target, last);
    const Outcome resumed = fixture.train({"--resume"});
    CHECK(resumed.status == 1);
    CHECK(is_one_line(resumed.errors));
    CHECK(contains(resumed.errors, "last.h5"));
    CHECK((bytes_of(fixture.best) == best));
    CHECK((bytes_of(fixture.out + "/metrics.csv") == metrics));
    std::filesystem::remove(last);
  }
}

TEST_CASE("pronounce: errors are one line on standard error", "[examples]") {
  const TrainingFixture fixture;
  const auto error_of = [](const Outcome& outcome, int status) {
    CHECK(outcome.status == status);
    CHECK(is_one_line(outcome.errors));
    return outcome.errors;
  };
  CHECK(contains(error_of(run({"sing"}), 2), "expected a command, got 'sing'"));
  CHECK(contains(error_of(run({"train", "--speed", "3"}), 2), "speed"));
  CHECK(contains(error_of(run({"train", "--width", "0"}), 2), "option --width"));
  for (const std::string option : {"--lr=0", "--dropout=1", "--label-smoothing=1"})
    CHECK(contains(error_of(run({"train", option}), 2),
                   "option " + option.substr(0, option.find('=')) + ": expected a number from "));
  CHECK(contains(error_of(run({"attention"}), 2), "expected one word, got 0"));
  CHECK(contains(error_of(run({"train", "--out", ""}), 2),
                 "option --out: expected a non-empty value, got ''"));
  CHECK(contains(error_of(fixture.train({"--heads", "3"}), 1),
                 "heads: expected a divisor of the width 16, got 3"));
  CHECK(contains(error_of(run({"train", "--dictionary", "no/such.dict"}), 1), "no/such.dict"));
  CHECK(contains(error_of(run({"say", "--model", "no/such.h5", "a"}), 1), "no/such.h5"));
  CHECK(contains(error_of(run({"say", "--model", fixture.dictionary, "a"}), 1), "small.dict"));
  CHECK(contains(error_of(fixture.train({"--out", "/dev/null/out"}), 1), "/dev/null"));
  const TemporaryFolder folder;
  const std::string dictionary = folder / "metrics.csv";
  std::filesystem::copy(fixture.dictionary, dictionary);
  CHECK(contains(error_of(fixture.train({"--dictionary", dictionary, "--out", folder.path()}), 1),
                 "metrics.csv': expected a file that is not an input, got an input file"));
  CHECK(run({}).status == 2);
  CHECK(contains(run({"train", "--width", "0"}).errors, "(see pronounce train --help)"));
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

TEST_CASE("pronounce: all gradients of a small model agree with finite differences", "[examples]") {
  const Outcome checked = run({"gradcheck", "--layers", "1", "--width", "4"});
  INFO(checked.output << checked.errors);
  CHECK(checked.status == 0);
  CHECK(contains(checked.output, "decoder.0.cross_attention.W_q.weight"));
  CHECK(contains(checked.output, "gradients agree"));
}
