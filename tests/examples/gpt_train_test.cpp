// gpt: training, and what is done with its checkpoints.
#include <cmath>
#include <filesystem>
#include <regex>

#include <weft/layers/linear.hpp>
#include <weft/train/text/tokenizers/byte_pair_encoding.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include <weft/train/weights/weights.hpp>
#include "examples/common/settings.hpp"
#include "examples/gpt/configuration.hpp"
#include "examples/gpt/program.hpp"
#include "tests/catch.hpp"
#include "tests/examples/earlier_checkpoint.hpp"
#include "tests/examples/outcome.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

Outcome run(const std::vector<std::string>& arguments) {
  return outcome_of(gpt::run_program, "gpt", arguments);
}

// Lines of four words, 1750 characters in all.
std::string small_text() {
  const std::vector<std::string> words = {"warp", "weft", "loom", "reed", "heald"};
  std::string text;
  for (std::size_t i = 0; i < 80; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      text += words[(i * (j + 1) + i / 7) % words.size()] + (j < 3 ? ' ' : '\n');
  return text;
}

// A folder with a small text, and a fast training on it.
struct TrainingFixture {
  TemporaryFolder folder;
  std::string text = (folder / "text.txt").string();
  std::string out = (folder / "out").string();
  std::string best = out + "/best.h5";

  TrainingFixture() { write_bytes(text, small_text()); }

  Outcome train(const std::vector<std::string>& extra_arguments = {}) const {
    std::vector<std::string> arguments = {
        "train", "--text",   text, "--out",   out,    "--width",          "16", "--layers",
        "1",     "--heads",  "2",  "--batch", "4",    "--steps",          "12", "--context",
        "16",    "--warmup", "2",  "--lr",    "0.01", "--validate-every", "6"};
    arguments.insert(arguments.end(), extra_arguments.begin(), extra_arguments.end());
    return run(arguments);
  }
  // The error of a training that does not begin.
  std::string error(const std::vector<std::string>& extra_arguments, int status = 1) const {
    const Outcome outcome = train(extra_arguments);
    CHECK(outcome.status == status);
    CHECK(is_one_line(outcome.errors));
    CHECK_FALSE(contains(outcome.output, "step 6"));
    return outcome.errors;
  }
  Outcome sample(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {"sample", "--model", best, "--tokens", "20"});
    return run(arguments);
  }
};

}  // namespace

TEST_CASE("gpt: trains a model, samples, evaluates and draws attention from its checkpoint",
          "[examples]") {
  const TrainingFixture fixture;
  const Outcome trained = fixture.train();
  INFO(trained.errors);
  REQUIRE(trained.status == 0);
  CHECK(contains(trained.output, "tokens for training"));
  CHECK(contains(trained.output, "finished after 12 steps; weights in " + fixture.best));
  CHECK(contains(bytes_of(fixture.out + "/metrics.csv"), "validation_loss"));
  CHECK(std::filesystem::exists(fixture.out + "/report.html"));

  std::filesystem::remove(fixture.text);
  const Outcome sampled = fixture.sample({"--prompt", "warp "});
  CHECK(sampled.status == 0);
  CHECK(sampled.output.starts_with("warp "));
  CHECK(sampled.output.size() == 26);
  CHECK(std::regex_match(
      sampled.errors,
      std::regex(
          "20 tokens, \\d+\\.\\d tokens/s\nthe text is longer than the context of 16 tokens: "
          "its beginning was forgotten\n")));
  CHECK(run({"sample", "--model", fixture.out, "--tokens", "20", "--prompt", "warp "}).output ==
        sampled.output);

  const std::string line = (fixture.folder / "line.txt").string();
  write_bytes(line, "loom weft\nreed");
  const Outcome evaluated = run({"evaluate", "--model", fixture.best, "--text", line});
  CHECK(evaluated.status == 0);
  CHECK(std::regex_match(evaluated.output, std::regex("loss \\d\\.\\d{4} per token, perplexity "
                                                      "\\d+\\.\\d{4}, \\d\\.\\d{4} bits per byte, "
                                                      "13 tokens, 14 bytes\n")));
  const Outcome lines = run({"evaluate", "--model", fixture.best, "--text", line, "--lines"});
  CHECK(std::regex_match(lines.output, std::regex("\\d\\.\\d{4}\t\\d\\.\\d{4}\tloom weft\n"
                                                  "\\d\\.\\d{4}\t\\d\\.\\d{4}\treed\nloss .*\n")));
  CHECK(lines.output.ends_with(evaluated.output));

  const std::string picture = (fixture.folder / "heads.svg").string();
  CHECK(run({"attention", "--model", fixture.best, "--picture", picture, "weft loom"}).status == 0);
  CHECK(std::filesystem::exists(fixture.folder / "heads.dat"));
}

TEST_CASE("gpt train: resumes with the same result", "[examples]") {
  const std::vector<std::string> options = {"--modern",  "--average",    "0.5",
                                            "--dropout", "0.1",          "--tokenizer",
                                            "bytepairs", "--vocabulary", "270"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = options;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const TrainingFixture at_once, in_two;
  REQUIRE(at_once.train(options).status == 0);
  REQUIRE(in_two.train(with({"--max-steps", "7"})).status == 0);
  REQUIRE(in_two.train(with({"--resume", "--background", "--keep-checkpoints", "1"})).status == 0);
  CHECK(in_two.sample().output == at_once.sample().output);
  CHECK((bytes_of(in_two.out + "/last.h5") == bytes_of(at_once.out + "/last.h5")));
  CHECK(std::filesystem::exists(in_two.out + "/step-12.h5"));
}

TEST_CASE("gpt train: resumes only with the same text, settings and tokens", "[examples]") {
  const TrainingFixture fixture;
  REQUIRE(fixture.train({"--max-steps", "7"}).status == 0);
  const std::string best = bytes_of(fixture.best);
  CHECK(contains(fixture.error({}), "expected a directory without checkpoints"));
  CHECK(contains(fixture.error({"--resume", "--heads", "4"}), "--heads: expected 2, got 4"));
  CHECK(contains(fixture.error({"--resume", "--modern=false"}), "--modern: expected 1, got 0"));
  CHECK(contains(fixture.error({"--resume", "--tokenizer", "bytepairs"}),
                 "--tokenizer: expected characters, got bytepairs"));
  CHECK(contains(fixture.error({"--resume", "--preset", "baby"}), "--modern: expected 1, got 0"));
  write_bytes(fixture.text, small_text() + "warp\n");
  CHECK(contains(fixture.error({"--resume"}), "training progress: data: expected the examples"));
  write_bytes(fixture.text, small_text() + "ß\n");
  CHECK(contains(fixture.error({"--resume"}),
                 "text: expected characters that the model knows (14 of them), got 'ß'"));
  CHECK((bytes_of(fixture.best) == best));
}

TEST_CASE("gpt train: resumes with more steps, another schedule and an average", "[examples]") {
  const TrainingFixture fixture;
  REQUIRE(fixture.train().status == 0);
  const Outcome longer =
      fixture.train({"--resume", "--steps", "18", "--lr", "0.005", "--average", "0.5"});
  INFO(longer.errors);
  REQUIRE(longer.status == 0);
  CHECK(contains(longer.output, "finished after 18 steps"));
  CHECK(contains(longer.output, "the schedule was 'warmup, stable, decay"));
  CHECK(contains(longer.output, "the average was 'none' and is now 'decay 0.5'"));
  CHECK(examples::load_configuration<gpt::Configuration>(fixture.out + "/last.h5").steps == 18);
  // The changed settings remain.
  const Outcome again = run({"train", "--out", fixture.out, "--resume"});
  CHECK(contains(again.output, "finished after 18 steps"));
  CHECK_FALSE(contains(again.output, "is now"));
}

TEST_CASE("gpt train: resumes from a checkpoint of weft 0.2", "[examples]") {
  const TrainingFixture at_once, in_two;
  REQUIRE(at_once.train({"--preset", "cpu"}).status == 0);
  REQUIRE(in_two.train({"--preset", "cpu", "--max-steps", "7"}).status == 0);
  for (const char* name : {"/last.h5", "/best.h5"})
    CHECK(make_earlier<gpt::Configuration>(in_two.out + name) == 11);
  CHECK(in_two.sample().status == 0);
  CHECK(contains(in_two.error({"--resume", "--muon"}), "--muon: expected 0, got 1"));
  const Outcome resumed = in_two.train({"--resume"});
  INFO(resumed.errors);
  REQUIRE(resumed.status == 0);
  CHECK(contains(resumed.output, "AdamW"));
  CHECK((bytes_of(in_two.out + "/last.h5") == bytes_of(at_once.out + "/last.h5")));
}

TEST_CASE("gpt train: the default preset trains with Muon, and each choice can be switched off",
          "[examples]") {
  const TrainingFixture fixture;
  int runs = 0;
  const auto output = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"--max-steps", "1", "--out", fixture.out + str_cat(++runs)};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Outcome trained = fixture.train(all);
    INFO(trained.errors);
    CHECK(trained.status == 0);
    return trained.output;
  };
  // A block of 12 · 16² weights, two norms, and norms of queries and keys of 8; two times 14
  // characters, and a norm.
  const std::string trained = output({});
  CHECK(contains(trained, "model with 3584 parameters"));
  CHECK(contains(trained, "Muon"));
  CHECK(contains(output({"--qk-norm=false"}), "model with 3568 parameters"));
  CHECK(contains(output({"--untied=false"}), "model with 3360 parameters"));
  CHECK(contains(output({"--modern=false"}), "model with 3840 parameters"));
  CHECK_FALSE(contains(output({"--muon=false"}), "Muon"));
}

TEST_CASE("gpt train: tokens of GPT-2's files", "[examples]") {
  const std::string folder = WEFT_TEST_DATA "/byte_pair_encoding";
  const TrainingFixture fixture;
  const Outcome trained = fixture.train({"--tokenizer-files", folder, "--max-steps", "2"});
  INFO(trained.errors);
  REQUIRE(trained.status == 0);
  CHECK(fixture.sample().status == 0);
  CHECK(fixture.train({"--tokenizer-files", folder, "--resume"}).status == 0);

  const BytePairEncoding other = BytePairEncoding::learn("other other", 260);
  other.save(fixture.folder / "vocab.json", fixture.folder / "merges.txt");
  CHECK(contains(fixture.error({"--tokenizer-files", fixture.folder.path().string(), "--resume"}),
                 "--tokenizer-files: expected the tokens of the checkpoint, got different tokens"));
}

TEST_CASE("gpt train: a preset gives defaults that options replace", "[examples]") {
  const TrainingFixture fixture;
  const Outcome trained = fixture.train({"--preset", "cpu", "--max-steps", "1"});
  INFO(trained.errors);
  // A block of 12 · 16² weights and two norms, 14 characters, 16 positions, and a norm.
  CHECK(contains(trained.output, "model with 3600 parameters"));
  const TrainingFixture modern;
  // No positions, and as many weights in a block: 4 heads of 4, and 2 of keys and values.
  CHECK(contains(
      modern.train({"--heads", "4", "--preset", "three-minutes", "--max-steps", "1"}).output,
      "model with 3344 parameters"));
}

TEST_CASE("gpt train: texts that cannot be trained on are refused", "[examples]") {
  const TrainingFixture fixture;
  const auto error_of = [&](const std::string& text) {
    write_bytes(fixture.text, text);
    return fixture.error({});
  };
  CHECK(contains(error_of(""), "text.txt\": expected text, got an empty file"));
  CHECK(contains(error_of("\xFFtext"), "expected UTF-8 text, got byte 255 at position 0"));
  CHECK(contains(error_of(std::string("te\0t", 4)), "expected text, got a NUL at position 2"));
  CHECK(contains(error_of("0123456789abcdefg"),
                 "text for training: expected more tokens than the context of 16, got 15"));
  CHECK(contains(error_of(std::string(160, 'x')),
                 "text for validation: expected more tokens than the context of 16, got 16"));
  CHECK_FALSE(std::filesystem::exists(fixture.out + "/last.h5"));
  std::filesystem::remove(fixture.text);
  CHECK(contains(fixture.error({}), "text.txt"));
  std::filesystem::create_directory(fixture.text);
  CHECK(contains(fixture.error({}), "text.txt': expected at least one text file, got none"));
}

TEST_CASE("gpt train: bad command lines and folders are refused before training", "[examples]") {
  const TrainingFixture fixture;
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--width", "0"},
                                                    {"--lr", "x"},
                                                    {"--dropout", "1.5"},
                                                    {"--preset", "huge"},
                                                    {"--tokenizer", "words"},
                                                    {"--vocabulary", "256"},
                                                    {"--lr", "0"},
                                                    {"--dropout", "1"},
                                                    {"--label-smoothing", "1"},
                                                    {"--steps"},
                                                    {"--unknown"},
                                                    {"text"}})
    CHECK_FALSE(fixture.error(arguments, 2).empty());
  CHECK(contains(fixture.error({"--modern", "--bias"}, 2), "expected either --modern or --bias"));
  CHECK(contains(fixture.error({"--preset", "three-minutes", "--bias"}, 2), "or --bias, got both"));
  for (const std::string option : {"--rms-norm", "--rotary=false", "--squared-relu"}) {
    const std::string name = option.substr(0, option.find('='));
    for (const std::vector<std::string>& modern :
         {std::vector<std::string>{option}, {"--preset", "three-minutes", option}})
      CHECK(contains(fixture.error(modern, 2), name + ": has no effect with --modern"));
  }
  for (const std::vector<std::string>& adamw :
       {std::vector<std::string>{"--muon=false"}, {"--preset", "cpu"}}) {
    std::vector<std::string> arguments = adamw;
    arguments.insert(arguments.end(), {"--adamw-lr-factor", "0.3"});
    CHECK(contains(fixture.error(arguments, 2), "--adamw-lr-factor: has no effect without --muon"));
  }
  CHECK(
      contains(fixture.error({"--tokenizer", "characters", "--tokenizer-files", WEFT_TEST_DATA}, 2),
               "expected either --tokenizer characters or --tokenizer-files, got both"));
  CHECK(contains(fixture.error({"--heads", "3"}), "heads: expected a divisor of the width 16"));
  CHECK(contains(fixture.error({"--kv-heads", "4"}), "kv-heads: expected a divisor of "));
  CHECK(contains(fixture.error({"--modern", "--heads", "16"}),
                 "heads: expected an even width / heads, "));
  CHECK(contains(fixture.error({"--final-lr", "1"}), "final-lr: expected at most "));
  CHECK(contains(fixture.error({"--out", "/dev/null/out"}), "/dev/null"));
  const TemporaryFolder folder;
  for (const char* name : {"metrics.csv", "report.html"}) {
    const std::string text = folder / name;
    std::filesystem::copy(fixture.text, text);
    CHECK(contains(fixture.error({"--text", text, "--out", folder.path()}),
                   text + "': expected a file that is not an input, got an input file"));
    CHECK(bytes_of(text) == bytes_of(fixture.text));
  }
  // A directory in which not even root can create files.
  CHECK(contains(fixture.error({"--out", "/proc/self/fdinfo"}),
                 "cannot write to directory '/proc/self/fdinfo': "));
}

TEST_CASE("gpt: checkpoints that are none, and texts that the model does not know, are refused",
          "[examples]") {
  const TrainingFixture fixture;
  REQUIRE(fixture.train({"--max-steps", "1"}).status == 0);
  const auto error_of = [](const Outcome& outcome) {
    CHECK(outcome.status == 1);
    CHECK(outcome.output.empty());
    CHECK(is_one_line(outcome.errors));
    return outcome.errors;
  };
  CHECK(contains(error_of(fixture.sample({"--prompt", "wüst"})),
                 "text: expected characters that the model knows (14 of them), got 'ü'"));
  const std::string other = (fixture.folder / "other.txt").string();
  write_bytes(other, "warp Z");
  CHECK(contains(error_of(run({"evaluate", "--model", fixture.best, "--text", other})), "got 'Z'"));
  write_bytes(other, "w");
  CHECK(contains(error_of(run({"evaluate", "--model", fixture.best, "--text", other})),
                 "text: expected at least two tokens, got 1"));
  for (const char* command : {"sample", "evaluate"}) {
    CHECK(contains(error_of(run({command, "--model", "no/such.h5"})), "no/such.h5"));
    CHECK(contains(error_of(run({command, "--model", fixture.text})), "text.txt"));
    CHECK(contains(error_of(run({command, "--model", fixture.folder.path().string()})),
                   "expected this file, or best.h5 in the same folder, got neither file"));
  }
  Random random(1);
  Linear<float> layer({2, 2}, random);
  save_weights(fixture.best, layer);
  CHECK(contains(error_of(fixture.sample()), "best.h5"));
  save_checkpoint(fixture.best, layer);
  CHECK(contains(error_of(fixture.sample()), "best.h5"));
  CHECK(contains(
      error_of(run({"attention", "--model", fixture.out + "/last.h5", "warp weft loom reed"})),
      "text: expected 1 to 16 tokens, got 19"));
}

TEST_CASE("gpt sample: a draft proposes tokens and changes none", "[examples]") {
  const TrainingFixture fixture;
  REQUIRE(fixture.train().status == 0);
  const std::string draft = (fixture.folder / "draft").string();
  REQUIRE(fixture.train({"--width", "8", "--out", draft}).status == 0);
  const std::vector<std::string> greedy = {"--prompt", "warp ", "--temperature", "0"};
  const auto with_draft = [&](const std::string& model) {
    std::vector<std::string> arguments = greedy;
    arguments.insert(arguments.end(), {"--draft", model, "--proposals", "2"});
    return fixture.sample(arguments);
  };
  const Outcome alone = fixture.sample(greedy), drafted = with_draft(draft);
  INFO(drafted.errors);
  REQUIRE(drafted.status == 0);
  CHECK(drafted.output == alone.output);
  CHECK(contains(drafted.errors, "proposals were accepted\n"));
  CHECK_FALSE(contains(alone.errors, "proposals"));
  write_bytes(fixture.text, small_text() + "!");
  const std::string other = (fixture.folder / "other").string();
  REQUIRE(fixture.train({"--out", other}).status == 0);
  CHECK(
      with_draft(other).errors ==
      "gpt sample: draft: expected a model with the same vocabulary, got a different vocabulary\n");
  CHECK(contains(with_draft("no/such").errors, "no/such"));
}

TEST_CASE("gpt: each command has help", "[examples]") {
  for (const char* command : {"train", "sample", "evaluate", "attention"}) {
    const Outcome help = run({command, "--help"});
    CHECK(help.status == 0);
    CHECK(contains(help.output, std::string("gpt ") + command));
    CHECK(contains(run({"--help"}).output, std::string("  ") + command));
  }
  const std::string help = run({"train", "--help"}).output;
  CHECK(contains(help, "--modern=false"));
  CHECK(contains(help, "muon)"));
}
