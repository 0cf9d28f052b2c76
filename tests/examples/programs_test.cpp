// The programs as processes: their streams, files and signals.
#include <map>
#include <regex>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/examples/process.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

const std::string programs_with_options[] = {"embed",
                                             "heads_study",
                                             "kernel_regression",
                                             "weft-runs",
                                             "pronounce",
                                             "pronounce say",
                                             "pronounce train",
                                             "gpt sample",
                                             "h5weights inspect",
                                             "h5weights convert",
                                             "toy_tasks",
                                             "positional_encoding",
                                             "sequence_layers",
                                             "self_attention"};

// 180 words of three letters.
const std::string small_dictionary =
    "for a in b d f g k l m n p r s t; do for b in a e i o u; do for c in n s t; do "
    "echo \"$a$b$c $a $b $c\"; done; done; done > small.dict\n";
const std::string small_training =
    "pronounce train --dictionary small.dict --out out --width 16 --layers 1 --heads 2 --batch 128";

}  // namespace

TEST_CASE("programs: output that cannot be written is an error", "[examples]") {
  std::vector<std::string> commands = {"first_steps", "forecast", "languages", "fine_tune"};
  for (const std::string& program : programs_with_options) commands.push_back(program + " --help");
  for (const std::string& command : commands) {
    const std::string name = command.substr(0, command.find(' '));
    for (const char* redirection : {" > /dev/full", " >&-"}) {
      INFO(command + redirection);
      const Outcome outcome = process_of(command + redirection);
      CHECK(outcome.status == 1);
      CHECK(is_one_line(outcome.errors));
      CHECK(outcome.errors.starts_with(name));
      CHECK(contains(outcome.errors, "cannot write to standard output"));
    }
  }
}

TEST_CASE("programs: without options of their own, they answer --help and refuse others",
          "[examples]") {
  const std::string programs = process_of("ls '" WEFT_PROGRAMS "/guide'").output;
  std::vector<std::string> all = {"first_steps", "forecast",   "languages", "characters",
                                  "fine_tune",   "transcribe", "digits"};
  std::istringstream names(programs);
  for (std::string name; std::getline(names, name);) all.push_back("guide/" + name);
  CHECK(all.size() > 15);
  for (const std::string& program : all) {
    INFO(program);
    const Outcome help = process_of("'" WEFT_PROGRAMS "/" + program + "' --help; echo $? $(ls -A)");
    CHECK(contains(help.output, "Usage: " + program.substr(program.find('/') + 1)));
    CHECK(help.output.ends_with("\n0 .errors .output\n"));
    CHECK(help.errors.empty());
    const Outcome other = process_of("'" WEFT_PROGRAMS "/" + program + "' --nonsense");
    CHECK(other.status == 2);
    CHECK(other.output.empty());
    CHECK(is_one_line(other.errors));
    CHECK(contains(other.errors, "got '--nonsense'"));
  }
  CHECK(contains(process_of("languages --help").output,
                 "languages [WORDS.csv [FOLDER]]    columns `word` and `language`"));
  CHECK(contains(process_of("forecast 5").errors, "expected no arguments, got '5'"));
}

TEST_CASE("programs: digits learns images, and transcribe learns sequences", "[examples]") {
  // 400 images of ten vertical lines at different places, with noise.
  const Outcome digits = process_of(
      "seq 400 | awk '{srand($1); digit = $1 * 7 % 10; line = \"\"; "
      "for (i = 0; i < 64; ++i) line = line int(4 * rand() + 12 * (i % 8 == digit % 8 && "
      "(digit < 8 || i < 24))) \",\"; print line digit}' > digits.csv; digits digits.csv");
  INFO(digits.output + digits.errors);
  CHECK(digits.status == 0);
  CHECK(contains(digits.output, ", accuracy 1"));
  CHECK(contains(process_of("digits missing.csv").errors, "digits: "));

  const Outcome transcribe = process_of("transcribe");
  INFO(transcribe.output);
  CHECK(transcribe.status == 0);
  std::smatch match;
  REQUIRE(std::regex_search(transcribe.output, match, std::regex("(\\d+) of 200 transcripts")));
  CHECK(std::stoi(match[1]) > 120);
}

TEST_CASE("programs: fine_tune saves a model, loads it and trains it further", "[examples]") {
  const Outcome outcome = process_of("fine_tune; ls");
  INFO(outcome.output + outcome.errors);
  CHECK(outcome.output.starts_with("loaded 6 parameters"));
  CHECK(outcome.output.ends_with("\nfine_tune.h5\n"));
  std::smatch match;
  REQUIRE(
      std::regex_search(outcome.output, match,
                        std::regex("before (.*), fine-tuned (.*), trained from scratch (.*)\n")));
  CHECK(std::stod(match[2]) < std::stod(match[1]));
  CHECK(std::stod(match[2]) < std::stod(match[3]));

  const Outcome unwritable = process_of("mkdir fine_tune.h5; fine_tune");
  CHECK(unwritable.status == 1);
  CHECK(unwritable.output.empty());
  CHECK(is_one_line(unwritable.errors));
  CHECK(contains(unwritable.errors, "fine_tune: "));
}

TEST_CASE("programs: an output that is an input is refused, and the input is kept", "[examples]") {
  for (const std::string command :
       {"gpt train --text in --out .", "gpt train --text texts --out texts",
        "gpt train --text texts --out .", "pronounce train --dictionary in --out .",
        "languages in .", "embed --model . --file in --vectors vectors.csv",
        "h5weights convert in vectors.h5", "h5weights convert in in",
        "weft-runs --page run/metrics.csv run", "weft-runs --page link.html run",
        "heads_study --model in --dictionary in --out . --epochs 0"}) {
    INFO(command);
    const Outcome outcome = process_of(
        "mkdir run texts; echo 'word,language' > in; echo 'step,loss' > run/metrics.csv; "
        "ln in texts/a; for i in metrics.csv vectors.csv vectors.h5 heads_offsets.svg; do "
        "ln -s in $i; done; ln run/metrics.csv link.html; " +
        command + "; status=$?; cat in run/metrics.csv; exit $status");
    CAPTURE(outcome.errors);
    CHECK(outcome.status != 0);
    CHECK(outcome.output == "word,language\nstep,loss\n");
    CHECK(contains(outcome.errors, "that is not an input, got an input "));
  }
}

TEST_CASE("programs: options that have no effect are refused by name", "[examples]") {
  for (const auto& [command, error] :
       {std::pair<std::string, std::string>{"gpt sample --proposals 4",
                                            "--proposals: has no effect without --draft"},
        {"gpt sample --system x", "--system: has no effect without --chat"},
        {"gpt sample --chat --interactive", "--interactive: has no effect with --chat"},
        {"gpt sample --temperature 0 --top-k 5", "--top-k: has no effect with --temperature 0"},
        {"gpt sample --temperature 0 --top-p 0.5", "--top-p: has no effect with"},
        {"gpt sample --temperature 0 --min-p 0.5", "--min-p: has no effect with"},
        {"gpt evaluate --data a --text b", "--text: has no effect with --data"},
        {"gpt evaluate --data a --split training", "--split: has no effect with --data"},
        {"gpt train --vocabulary 300", "--vocabulary: has no effect unless tokens are learned"},
        {"pronounce say --beam 2 --n-best 3 a", "--beam: has no effect below --n-best"},
        {"embed --tokens --pooling max a", "--pooling: has no effect with --tokens"},
        {"embed --tokens --batch 3 a", "--batch: has no effect with --tokens"},
        {"toy_tasks --task add --say 1+1 --steps 5", "--steps: has no effect with --say"},
        {"heads_study --epochs 0 --precision bf16", "--precision: has no effect with"}}) {
    INFO(command);
    const Outcome outcome = process_of(command + "; status=$?; ls; exit $status");
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    CHECK(contains(outcome.errors, "option " + error));
  }
}

TEST_CASE("programs: files that are opened do not take the place of closed streams", "[examples]") {
  const Outcome outcome = process_of(
      "kernel_regression --out plots <&- >&- 2>&-; status=$?; cat plots/*.dat plots/*.gp; "
      "exit $status");
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.output, "# true function"));
  CHECK_FALSE(contains(outcome.output, "Training w"));
}

TEST_CASE("programs: a folder that cannot be written is refused before the work", "[examples]") {
  for (const std::string program : {"toy_tasks", "sequence_layers", "heads_study",
                                    "kernel_regression", "self_attention", "positional_encoding"}) {
    INFO(program);
    // A directory in which not even root can create files.
    const Outcome outcome = process_of("timeout 20 " + program + " --out /proc/self/fdinfo");
    CHECK(outcome.status == 1);
    CHECK(outcome.output.empty());
    CHECK(is_one_line(outcome.errors));
    CHECK(contains(outcome.errors, "cannot write to directory '/proc/self/fdinfo': "));
  }
}

TEST_CASE("programs: a result that cannot be replaced is refused before the work", "[examples]") {
  for (const auto& [command, result] :
       {std::pair<std::string, std::string>{"toy_tasks --task add", "toy_tasks_add.h5"},
        {"toy_tasks --task add", "toy_tasks_accuracy.dat"},
        {"toy_tasks --task reverse", "toy_tasks_reverse.svg"},
        {"sequence_layers", "sequence_layers_times.dat"},
        {"sequence_layers", "sequence_layers_distance.gp"}}) {
    INFO(command + ", " + result);
    const Outcome outcome =
        process_of("mkdir -p plots/" + result + "; timeout 20 " + command + " --out plots");
    CHECK(outcome.status == 1);
    CHECK(outcome.output.empty());
    CHECK(is_one_line(outcome.errors));
    CHECK(contains(outcome.errors, result + "': expected a regular file to replace"));
  }
  const Outcome pipe = process_of(
      "mkdir plots; mkfifo plots/kernel_regression.dat; timeout 20 kernel_regression --out plots");
  CHECK(pipe.status == 1);
  CHECK(contains(pipe.errors, "expected a regular file to replace, got a device, pipe or socket"));
}

TEST_CASE("programs: sequence_layers keeps what it measured when it is interrupted", "[examples]") {
  const std::string command =
      "sequence_layers --width 4 --batch 1 --longest 128 --letters 4 --out plots";
  const Outcome timing = process_of(
      signalled(command + " --timing-seconds 1000", "INT", "median time") + "; ls plots");
  CHECK(timing.status == 130);
  CHECK_FALSE(contains(timing.output, "Reversing"));
  CHECK(contains(timing.output, "interrupted"));

  const Outcome learning = process_of(signalled(
      command + " --timing-seconds 0 --training-seconds 1000", "TERM", "Reversing 4 letters"));
  CHECK(learning.status == 143);
  CHECK(contains(learning.output, "n^"));
  CHECK(contains(learning.output, "GRU "));
  CHECK(contains(learning.output, "sequence_layers_accuracy.svg"));
  CHECK(contains(learning.output, "interrupted"));
}

TEST_CASE("programs: heads_study ends when it is interrupted", "[examples]") {
  const Outcome outcome = process_of(
      small_dictionary + small_training + " --max-steps 1 > log && " +
      signalled("heads_study --dictionary small.dict --model out/last.h5 --epochs 1000 --out plots",
                "HUP", "heads  head size"));
  CHECK(outcome.status == 129);
  CHECK(contains(outcome.output, "heads_similarity.svg"));
  CHECK(contains(outcome.output, "interrupted during training with 1 head\n"));
}

TEST_CASE("programs: standard input must be text", "[examples]") {
  const TemporaryFolder directory;
  REQUIRE(process_in(directory, small_dictionary + small_training + " --max-steps 1").status == 0);
  const auto say = [&](const std::string& command) { return process_in(directory, command); };
  const std::string program = "pronounce say --model out/last.h5";
  const Outcome folder = say(program + " < .");
  CHECK(folder.status == 1);
  CHECK(is_one_line(folder.errors));
  CHECK(contains(folder.errors, "pronounce say: cannot read standard input: Is a directory"));
  for (const auto& [nothing, error] : std::map<std::string, std::string>{
           {" < /dev/null", "standard input: expected at least one word, got none"},
           {" <&-", "cannot read standard input: Bad file descriptor"},
           {" < empty", "standard input: expected at least one word, got none"}}) {
    INFO(nothing);
    const Outcome outcome = say(": > empty; " + program + nothing);
    CHECK(outcome.status == 1);
    CHECK(outcome.output.empty());
    CHECK(is_one_line(outcome.errors));
    CHECK(contains(outcome.errors, "pronounce say: " + error));
  }
  const Outcome zeros = say("timeout 20 " + program + " < /dev/zero");
  CHECK(zeros.status == 1);
  CHECK(contains(zeros.errors, "expected lines of at most 65536 bytes, got a longer line"));
  const Outcome marked = say("printf '\\357\\273\\277ban den\\n' | " + program);
  CHECK(marked.errors.empty());
  CHECK(marked.status == 0);
  CHECK(contains(marked.output, "ban  "));
  CHECK(contains(marked.output, "den  "));
}

TEST_CASE("programs: gpt saves when it is interrupted", "[examples]") {
  const std::string training =
      "gpt train --width 8 --layers 1 --heads 1 --context 8 --batch 1 --out out --steps ";
  const TemporaryFolder folder;
  const Outcome outcome =
      process_in(folder, signalled(training + "1000000", "INT", "parameters") + "; ls out");
  CHECK(outcome.status == 130);
  CHECK(contains(outcome.output, "interrupted after "));
  const Outcome resumed = process_in(folder, training + "1000000 --resume --max-steps 1; ls out");
  CHECK(resumed.status == 0);
  CHECK(contains(resumed.output, "last.h5"));
}

TEST_CASE("programs: gpt continues the lines of standard input", "[examples]") {
  const TemporaryFolder folder;
  REQUIRE(process_in(folder,
                     "gpt train --width 8 --layers 1 --heads 1 --context 8 --batch 1 "
                     "--steps 2 --validation-batches 1 --out out")
              .status == 0);
  const Outcome outcome = process_in(
      folder, "printf 'You\\nñ\\nmay' | gpt sample --interactive --tokens 1 --model out");
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.output, "You"));
  CHECK(contains(outcome.output, "\nmay"));
  CHECK(contains(outcome.errors, "got 'ñ'"));
  CHECK(contains(outcome.errors, "2 tokens\n"));
  const Outcome folder_as_input = process_in(folder, "gpt sample --interactive --model out < .");
  CHECK(folder_as_input.status == 1);
  CHECK(contains(folder_as_input.errors, "cannot read standard input"));
}

TEST_CASE("programs: a training whose reader is gone is saved", "[examples]") {
  const Outcome outcome = process_of(small_dictionary + "{ " + small_training +
                                     " --epochs 1000000; echo $? > status; } | head -n 3; "
                                     "ls out/last.h5; exit $(cat status)");
  CHECK(outcome.status == 141);
  CHECK(contains(outcome.output, "out/last.h5"));
}
