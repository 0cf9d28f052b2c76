// weft-runs, as a process, on folders of trainings.
#include <algorithm>
#include <filesystem>

#include "tests/catch.hpp"
#include "tests/examples/process.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

// Trains the classifier of languages on a part of its words, in a folder.
const std::string two_runs = "head -n 60 '" WEFT_SOURCE
                             "/examples/data/words.csv' > words.csv\n"
                             "mkdir runs && languages words.csv runs/first > first.txt\n"
                             "languages words.csv runs/second > second.txt\n";

}  // namespace

TEST_CASE("weft-runs: a table of runs, and a page of their curves", "[examples]") {
  const TemporaryFolder folder;
  // A setting that differs, and a run of an older version.
  const Outcome made =
      process_in(folder, two_runs +
                             "sed -i 's/\"seed\":\"0\"/\"seed\":\"7\"/' runs/second/run.json\n"
                             "mkdir old && cp runs/first/metrics.csv old\n"
                             "weft-runs runs old --page page.html");
  INFO(made.errors);
  REQUIRE(made.status == 0);
  CHECK(made.errors.empty());
  const std::string& table = made.output;
  CHECK(table.starts_with("run "));
  for (const char* text : {"runs/first", "runs/second", "old", "seed", "finished"})
    CHECK(contains(table, text));
  CHECK(table.ends_with("curves in page.html\n"));
  CHECK(contains(bytes_of(folder / "page.html"), "\"name\":\"runs/second\""));

  const Outcome alike = process_in(folder, "weft-runs runs/first runs/first");
  CHECK(alike.output.starts_with("run         best"));
  CHECK(std::filesystem::exists(folder / "runs.html"));
}

TEST_CASE("weft-runs: each folder that is none gets one line", "[examples]") {
  const TemporaryFolder folder;
  const Outcome outcome = process_in(
      folder, two_runs +
                  "mkdir empty newer broken; cp runs/first/metrics.csv newer\n"
                  "echo '{\"form\":99}' > newer/run.json; echo text > broken/metrics.csv\n"
                  "weft-runs runs/first empty missing newer broken $'a\\x1bb'");
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.output, "runs/first"));
  CHECK(contains(outcome.errors,
                 "weft-runs: 'empty': expected the folder of a run (with metrics.csv)"));
  CHECK(contains(outcome.errors, "weft-runs: 'missing': expected the folder of a run"));
  CHECK(contains(outcome.errors,
                 "run.json\": expected format 1 or older, got format 99 of a newer weft"));
  CHECK(contains(outcome.errors, "expected the first column 'step', got 'text'"));
  CHECK_FALSE(contains(outcome.errors, "\x1b"));
  CHECK(std::count(outcome.errors.begin(), outcome.errors.end(), '\n') == 5);

  const Outcome none = process_in(folder, "weft-runs empty --page none.html");
  CHECK(none.status == 1);
  CHECK(is_one_line(none.errors));
  CHECK_FALSE(std::filesystem::exists(folder / "none.html"));
  CHECK(contains(process_of("weft-runs").errors, "expected at least one folder, got none"));
  CHECK(
      contains(process_in(folder, "weft-runs runs/first --page /dev/null/x").errors, "/dev/null"));
}

TEST_CASE("weft-runs: settings are those in use, and of lists only the parts that differ",
          "[examples]") {
  const TemporaryFolder folder;
  const std::string small =
      " --text numbers.txt --width 16 --layers 1 --heads 2 --batch 4 --context 16 --steps 12 "
      "--validate-every 6 --preset tiny > /dev/null\n";
  const Outcome outcome =
      process_in(folder,
                 "seq 1 1000 > numbers.txt\n"
                 "gpt train --out runs/plain" +
                     small + "gpt train --out runs/modern --modern" + small +
                     "gpt train --out runs/decay --beta2 0.95" + small + "weft-runs runs");
  INFO(outcome.errors);
  REQUIRE(outcome.status == 0);
  // Flags are words, from wherever they are.
  CHECK(contains(outcome.output, "true"));
  CHECK(contains(outcome.output, "false"));
  CHECK(contains(outcome.output, "betas 0.9 and 0.95"));
  CHECK_FALSE(contains(outcome.output, "AdamW"));
  const std::string record = bytes_of(folder / "runs/plain/run.json");
  for (const char* text : {"\"vocabulary\":\"11\"", "\"warmup\":\"6\"", "\"ffn\":\"64\"",
                           "\"kv-heads\":\"2\"", "\"modern\":\"false\""})
    CHECK(contains(record, text));
  // The stored settings are as before.
  const Outcome resumed = process_in(folder, "gpt train --out runs/plain --resume --warmup 100");
  INFO(resumed.errors);
  CHECK(resumed.status == 0);
}

TEST_CASE("weft-runs: a run whose record has other types is left out by one line", "[examples]") {
  const TemporaryFolder folder;
  const Outcome outcome = process_in(
      folder, two_runs +
                  "sed -i 's/\"seconds\":[0-9.e-]*/\"seconds\":-5/' runs/first/run.json\n"
                  "weft-runs runs");
  CHECK(outcome.status == 1);
  CHECK(is_one_line(outcome.errors));
  CHECK(contains(outcome.errors,
                 "runs/first/run.json\": expected a number ≥ 0 as 'seconds', got -5"));
  CHECK(contains(outcome.output, "runs/second"));
}

TEST_CASE("programs: a training that resumes takes the options of its start", "[examples]") {
  const TemporaryFolder folder;
  const std::string small =
      " --width 16 --layers 1 --heads 2 --batch 4 --context 16 --steps 12 --validate-every 6 ";
  const Outcome outcome = process_in(folder,
                                     "seq 1 1000 > numbers.txt\n"
                                     "gpt train --text numbers.txt --out out --max-steps 6" +
                                         small +
                                         "> first.txt\n"
                                         "gpt train --out out --resume");
  INFO(outcome.errors);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.output, "resuming with the options of the first run:"));
  CHECK(contains(outcome.output, " --text=" + (folder / "numbers.txt").string()));
  CHECK(contains(outcome.output, "finished after 12 steps; weights in out/best.h5 (best, step "));
  CHECK(contains(outcome.output, "and out/last.h5 (last step)\nreport in out/report.html\n"));
  const Outcome elsewhere =
      process_in(folder, "mkdir sub; cd sub; gpt train --out ../out --resume --steps 13");
  INFO(elsewhere.errors);
  CHECK(contains(elsewhere.output, "finished after 13 steps"));
  const Outcome other =
      process_in(folder, "seq 2 1001 > other.txt; gpt train --text other.txt --out out --resume");
  CHECK(other.status == 1);
  CHECK(contains(other.errors,
                 "did the run begin with --text other.txt? To train the model on another text: "
                 "gpt finetune --model out --data other.txt"));
}

TEST_CASE("programs: an interrupted training says how to continue", "[examples]") {
  const TemporaryFolder folder;
  const Outcome outcome =
      process_in(folder, "seq 1 3000 > numbers.txt\n" +
                             signalled("gpt train --text numbers.txt --out out --validate-every 10",
                                       "INT", "step 10:"));
  CHECK(outcome.status == 130);
  const std::string output = bytes_of(folder / "written");
  CHECK(contains(output, "interrupted after "));
  CHECK(contains(output, "continue with: gpt train --out out --resume\n"));
  CHECK(contains(bytes_of(folder / "out" / "run.json"), "\"state\":\"interrupted\""));
}

TEST_CASE("programs: attention is drawn where the default folder cannot be written", "[examples]") {
  const TemporaryFolder folder;
  const Outcome outcome =
      process_in(folder,
                 "seq 1 1000 > numbers.txt\n"
                 "gpt train --text numbers.txt --out out --steps 2 --context 16 > first.txt\n"
                 "touch build; gpt attention --model out 123 && ls out/attention.*");
  INFO(outcome.errors);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.output, "out/attention.gp"));
}
