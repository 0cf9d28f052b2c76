// The report that a training leaves, its record, and what compares several.
#include "train/report/internal/run_report.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/layers/freeze.hpp>
#include <weft/layers/linear.hpp>
#include <weft/train/report/run_record.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/toy_training.hpp"

using namespace weft;

namespace {

using Json = nlohmann::json;

Json record_in(const std::filesystem::path& folder) {
  return Json::parse(bytes_of(folder / "run.json"));
}

// Trains the toy model, with a validation at the end of each epoch of 6 steps.
TrainingResult train(TrainerOptions options, std::ostream* output = nullptr, double lr = 0.05) {
  ToyTraining<float> toy;
  toy.optimizer.set_learning_rate(lr);
  options.output = output;
  options.log_every_steps = 1;
  options.seed = 17;
  Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(), options);
  trainer.validate_on(toy.batches);
  trainer.show_examples([&](ReportSection& section) {
    section.text("steps", std::to_string(trainer.progress().step));
    section.confusion("classes", {"a", "b"}, Tensor<double>({2, 2}, {3, 1, 0, 4}));
  });
  return trainer.run();
}

}  // namespace

TEST_CASE("report: a training leaves its report, its record and its metrics", "[report]") {
  const TemporaryFolder folder;
  std::ostringstream output;
  train({.epochs = 3, .folder = folder.path(), .notes = {{"text", "a \"b\""}}}, &output);
  const Json record = record_in(folder.path());
  CHECK(record["state"] == "finished");
  CHECK(record["step"] == 18);
  CHECK(record["total_steps"] == 18);
  CHECK(record["best"]["name"] == "validation_loss");
  CHECK(record["label_unit"] == "tokens");
  CHECK(record["notes"]["text"] == "a \"b\"");
  CHECK(record["training"]["seed"] == "17");
  CHECK(contains(record["training"]["optimizer"], "AdamW, lr 0.05"));
  CHECK(record["data"]["batches per epoch"] == "6");
  CHECK(record["model"]["parameters"].at(0) == Json{"weight", "[9, 9]", "81", "trained"});
  CHECK(record["warnings"].empty());
  REQUIRE(record["examples"].size() == 3);
  CHECK(record["examples"][1]["step"] == 12);
  CHECK(record["examples"][1]["blocks"][0]["text"] == "12");
  CHECK(record["examples"][1]["blocks"][1]["cells"][0] == Json{3.0, 1.0});
  CHECK(contains(record["command"], "weft_tests_train"));
  CHECK(contains(bytes_of(folder / "report.html"), "\"validation_loss\":{\"x\":[6,12,18]"));
  CHECK(contains(output.str(), "epoch 1, step 6: validation_loss "));
  CHECK(contains(output.str(), ", training_loss "));
  CHECK(contains(output.str(), " (best, -"));
}

TEST_CASE("report: events that cannot be written are missed, with one warning", "[report]") {
  const TemporaryFolder folder;
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  // Folders with the names that the file may get.
  for (int second = 0; second < 60; ++second)
    std::filesystem::create_directory(
        folder / str_cat("events.out.tfevents.", now + second, ".weft.", getpid()));
  std::ostringstream output;
  train({.epochs = 3, .folder = folder.path(), .tensorboard = true}, &output);
  CHECK(record_in(folder.path())["state"] == "finished");
  const std::string text = output.str(), warning = "warning: TensorBoard events are incomplete: ";
  CHECK(contains(text, warning));
  CHECK(contains(text, "; training continues"));
  CHECK(text.find(warning) == text.rfind(warning));
}

TEST_CASE("report: frozen parameters are in the model's table", "[report]") {
  Random random(1);
  Linear<float> model({.in_features = 3, .out_features = 2}, random);
  freeze(model, "weight");
  RunDescription description;
  describe_model(TrainableParameters<float>(model), description);
  CHECK(description.parameters ==
        std::vector<std::vector<std::string>>{{"weight", "[2, 3]", "6", "frozen"},
                                              {"bias", "[2]", "2", "trained"}});
  CHECK(contains(description.model, "Linear(in_features=3"));
}

TEST_CASE("report: measuring and showing do not change what is trained", "[report]") {
  const TemporaryFolder first, second;
  train({.epochs = 3, .folder = first.path()});
  ToyTraining<float> toy;
  Trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
          {.epochs = 3, .seed = 17, .folder = second.path(), .tensorboard = true})
      .run();
  ToyTraining<float> a, b;
  load_checkpoint(first / "last.h5", a.model);
  load_checkpoint(second / "last.h5", b.model);
  CHECK(a.values() == b.values());
}

TEST_CASE("report: one that resumes goes on with what came before", "[report]") {
  const TemporaryFolder folder;
  train({.epochs = 3, .max_steps = 9, .folder = folder.path()});
  Json record = record_in(folder.path());
  REQUIRE(record["examples"].size() == 2);  // of steps 6 and 9
  record["seconds"] = 1000.0;
  record["command"] = "the first one";
  record["started"] = "on a Tuesday";
  record["warnings"] = Json::parse(R"([{"step":9,"text":"kept"},{"step":10,"text":"dropped"}])");
  write_bytes(folder / "run.json", record.dump());
  train({.epochs = 3, .folder = folder.path(), .resume = true});
  record = record_in(folder.path());
  CHECK(record["seconds"] > 1000.0);
  CHECK(record["command"] == "the first one");
  CHECK(record["started"] == "on a Tuesday");
  CHECK(record["resumed"][0]["step"] == 9);
  REQUIRE(record["warnings"].size() == 1);
  CHECK(record["warnings"][0]["text"] == "kept");
  CHECK(record["examples"].size() == 4);
  CHECK(contains(bytes_of(folder / "report.html"), "\"loss\":{\"x\":[1,2,3,4,5,6,7,8,9,10,"));
}

TEST_CASE("report: a record that is none does not stop a training that resumes", "[report]") {
  for (const char* text : {"", "{", "[1]", "null", "{\"form\":1}", "{\"form\":2,\"seconds\":7}",
                           "{\"form\":1,\"warnings\":[1],\"examples\":[],\"resumed\":[]}"}) {
    const TemporaryFolder folder;
    train({.epochs = 3, .max_steps = 9, .folder = folder.path()});
    write_bytes(folder / "run.json", text);
    train({.epochs = 3, .folder = folder.path(), .resume = true});
    CHECK(record_in(folder.path())["step"] == 18);
  }
}

TEST_CASE("report: a record of another form is no record", "[report]") {
  const TemporaryFolder folder;
  train({.epochs = 3, .max_steps = 9, .folder = folder.path()});
  Json record = record_in(folder.path());
  record["form"] = record["form"].get<int>() + 1;
  record["command"] = "of another form";
  write_bytes(folder / "run.json", record.dump());
  train({.epochs = 3, .folder = folder.path(), .resume = true});
  CHECK(record_in(folder.path())["command"] != "of another form");
}

TEST_CASE("report: a record of too many levels is no record", "[report]") {
  const TemporaryFolder folder;
  train({.epochs = 3, .max_steps = 9, .folder = folder.path()});
  constexpr std::size_t levels = 200'000;  // beyond the stack of a recursive function
  write_bytes(folder / "run.json", str_cat("{\"form\":1,\"command\":", std::string(levels, '['),
                                           std::string(levels, ']'), '}'));
  CHECK(contains(message_of<FileError>([&] { read_run(folder.path()); }),
                 "run.json\": expected the record of a training run, got different JSON"));
  CHECK(recorded_notes(folder.path()).empty());
  train({.epochs = 3, .folder = folder.path(), .resume = true});
  CHECK(record_in(folder.path())["step"] == 18);
}

TEST_CASE("report: a run that resumes without metrics need not validate", "[report]") {
  const TemporaryFolder folder;
  train({.epochs = 3, .max_steps = 9, .folder = folder.path()});
  REQUIRE(record_in(folder.path()).contains("best"));
  std::filesystem::remove(folder / "metrics.csv");
  ToyTraining<float> toy;
  Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
                  {.epochs = 3, .seed = 17, .folder = folder.path(), .resume = true});
  CHECK(trainer.run().steps == 18);
  CHECK_FALSE(record_in(folder.path()).contains("best"));
}

TEST_CASE("report: a profile is shown, a section of the page and a trace", "[report]") {
  const TemporaryFolder folder;
  std::ostringstream output;
  train({.epochs = 2, .folder = folder.path(), .profile = true}, &output);
  CHECK(contains(output.str(), "ms/step"));
  CHECK(contains(output.str(), "cross_entropy"));
  const Json sections = record_in(folder.path()).at("sections");
  REQUIRE(sections.size() == 1);
  CHECK(sections.at(0).at("title") == "Profile");
  std::vector<std::string> titles;
  for (const Json& block : sections.at(0).at("blocks")) titles.push_back(block["title"]);
  CHECK(titles == std::vector<std::string>{"Phases of a step", "Operations", "Where the time goes",
                                           "Layers", "Memory at its peak"});
  CHECK(Json::parse(bytes_of(folder / "trace.json")).at("traceEvents").size() > 12);
}

TEST_CASE("report: training goes on without a trace that cannot be written", "[report]") {
  const TemporaryFolder folder;
  std::ostringstream output;
  std::filesystem::create_directories(folder / "trace.json");
  CHECK(train({.epochs = 2, .folder = folder.path(), .profile = true}, &output).steps == 12);
  CHECK(contains(output.str(), "warning: the trace is missing: "));
}

TEST_CASE("report: TensorBoard's events have scalars, histograms and examples", "[report]") {
  const TemporaryFolder folder;
  train({.epochs = 20, .folder = folder.path(), .tensorboard = true});  // 120 steps
  std::string events;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (contains(entry.path().filename().string(), "tfevents")) events += bytes_of(entry.path());
  for (const char* tag : {"validation_loss", "gradients/weight", "weights/weight", "steps"})
    CHECK(contains(events, tag));
  // A scalar follows its name, as field 2 of 4 bytes.
  const float rate = 0.05F;
  std::string scalar = "learning_rate\x15";
  scalar.append(reinterpret_cast<const char*>(&rate), sizeof rate);
  CHECK(contains(events, scalar));
  CHECK(contains(events, "a\tb\t\n    3\t1\t\n    0\t4\t"));
}

TEST_CASE("report: a full disk is said once, and training goes on", "[report]") {
  const TemporaryFolder folder;
  std::ostringstream output;
  // A directory in its place, which not even root can replace.
  std::filesystem::create_directories(folder / "report.html");
  CHECK(train({.epochs = 2, .folder = folder.path()}, &output).steps == 12);
  const std::string text = output.str(), warning = "warning: the report is out of date: ";
  REQUIRE(contains(text, warning));
  CHECK(text.find(warning) == text.rfind(warning));
  CHECK(contains(text, "; training continues\n"));
}

TEST_CASE("report: a loss that is not finite says what to try, in the report too", "[report]") {
  const TemporaryFolder folder;
  ToyTraining<float> toy;
  std::ostringstream output;
  Trainer trainer(toy.model, toy.optimizer, toy.batches,
                  [&](Tape<float>& tape, const PairBatch& batch) {
                    const double factor = toy.optimizer.steps() == 4 ? 1e300 : 1.0;
                    return scale(toy.loss(tape, batch), factor);
                  },
                  {.epochs = 2, .folder = folder.path(), .output = &output});
  CHECK_THROWS_AS(trainer.run(), NonFiniteError);
  CHECK(contains(output.str(), "warning: step 5"));
  CHECK(contains(output.str(), "try a lower learning rate"));
  const Json record = record_in(folder.path());
  CHECK(record["state"] == "failed");
  CHECK(contains(record["warnings"].at(0)["text"], "try a lower learning rate"));
}

TEST_CASE("report: settings in use replace those of the configuration, and flags are words",
          "[report]") {
  struct Configuration final : Stateful<float> {
    void state(State<float>& state) override {
      state.integer("warmup", warmup);
      state.flag("modern", modern);
    }
    std::int64_t warmup = 100;
    bool modern = false;
  } configuration;
  const TemporaryFolder folder;
  ToyTraining<float> toy;
  Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
                  {.folder = folder.path(), .settings_in_use = {{"warmup", "30"}, {"other", "1"}}});
  trainer.register_for_checkpointing("configuration", configuration);
  trainer.run();
  CHECK(record_in(folder.path())["configuration"] == Json{{"warmup", "30"}, {"modern", "false"}});
  configuration.warmup = 0;
  load_state(folder / "last.h5", "configuration", configuration);
  CHECK(configuration.warmup == 100);
}

TEST_CASE("run record: an entry of another type is an error that names the file and the entry",
          "[report]") {
  const TemporaryFolder folder;
  train({.epochs = 1, .folder = folder.path(), .notes = {{"seed", "of the notes"}}});
  const Json good = record_in(folder.path());
  const RunRecord run = read_run(folder.path());
  // A name in several groups counts once.
  CHECK(std::ranges::count(run.settings, std::pair<std::string, std::string>{"seed", "17"}) == 1);
  CHECK(std::ranges::none_of(run.settings,
                             [](const auto& setting) { return setting.second == "of the notes"; }));
  const auto message = [&](const std::string& path, const Json& value) {
    Json bad = good;
    bad[Json::json_pointer(path)] = value;
    write_bytes(folder / "run.json", bad.dump());
    return message_of<FileError>([&] { read_run(folder.path()); });
  };
  CHECK(contains(message("/state", 7), "run.json\": expected a string as 'state', got 7"));
  CHECK(contains(message("/seconds", -5.5),
                 "run.json\": expected a number ≥ 0 as 'seconds', got -5.5"));
  CHECK(contains(message("/step", -1), "expected an integer ≥ 0 as 'step', got -1"));
  CHECK(contains(message("/step", 1.5), "expected an integer ≥ 0 as 'step', got 1.5"));
  CHECK(contains(message("/training", "x"), "expected an object as 'training', got \"x\""));
  CHECK(contains(message("/training/seed", 17), "expected a string as 'training.seed', got 17"));
  CHECK(contains(message("/notes", Json::array()), "expected an object as 'notes', got []"));
  CHECK(
      contains(message("/best/step", nullptr), "expected an integer ≥ 0 as 'best.step', got null"));
  CHECK(contains(message("/best/value", "1"), "expected a step and a value as 'best', got {"));
  CHECK(contains(message("/warnings", 1), "expected a list as 'warnings', got 1"));
  CHECK(contains(message("/warnings", Json{1}), "expected a list of objects as 'warnings', got 1"));
  CHECK(contains(message("/model/parameters/0", 1),
                 "expected a list of rows of four strings as 'model.parameters', got 1"));
  CHECK(contains(message("/model/tree", 1), "expected a string as 'model.tree', got 1"));
  CHECK(contains(message("/form", 1e300),
                 "expected the record of a training run, got different JSON"));
  // No entry of any type is a crash, or another exception.
  for (const auto& [name, value] : good.items())
    for (const Json& other : {Json(), Json(-1), Json("x"), Json{1}, Json{{"x", 1}}}) {
      Json bad = good;
      bad[name] = other;
      write_bytes(folder / "run.json", bad.dump());
      try {
        write_comparison(folder / "runs.html", {{read_run(folder.path())}});
      } catch (const FileError& error) {
        CHECK_FALSE(contains(error.what(), "json.exception"));
      }
    }
}

TEST_CASE("report: texts can neither end the script nor fill the page", "[report]") {
  const TemporaryFolder folder;
  const std::string hostile = "</script><script>alert(\"1\")</script><!--\xFF\x1b'";
  RunDescription description{.label_unit = "tokens", .columns = {"step", "loss"}};
  description.configuration = {{hostile, hostile}, {"long", std::string(10'000, 'x')}};
  RunReport report(folder.path(), description, 0);
  ReportSection section;
  section.text(hostile, hostile);
  section.text("long", std::string(1'000'000, 'y'));
  section.table(hostile, {hostile}, {{hostile}});
  section.attention(hostile, {hostile}, {hostile}, {{hostile, Tensor<float>({1, 1}, {NAN})}});
  for (std::int64_t step = 1; step <= 200; ++step) report.add_examples(step, section);
  report.add_warning(1, hostile);
  report.set_section(hostile, section);
  report.set_section(hostile, section);
  CHECK_FALSE(report.write({.state = "running"}));
  const std::string page = bytes_of(folder / "report.html");
  CHECK(page.size() < 3'000'000);
  CHECK_FALSE(contains(page, "</script><script>"));
  CHECK_FALSE(contains(page, "<!--"));
  const Json record = record_in(folder.path());
  CHECK(record["sections"].size() == 1);
  CHECK(record["examples"].back()["step"] == 200);
  CHECK(record["configuration"]["long"].get<std::string>().size() < 1100);
}

TEST_CASE("report: sections refuse what does not fit", "[report]") {
  ReportSection section;
  CHECK(contains(message_of<ShapeError>([&] {
                   section.table("t", {"a", "b"}, {{"1"}});
                 }),
                 "table 't': row: expected 2 cells, got 1"));
  CHECK(contains(message_of<ShapeError>([&] {
                   section.confusion("c", {"a", "b"}, Tensor<double>({2, 3}));
                 }),
                 "confusion matrix 'c': expected [2, 2], got [2, 3]"));
  CHECK(contains(message_of<ShapeError>([&] {
                   section.attention("w", {"a"}, {"b"}, {{"head", Tensor<float>({2, 1})}});
                 }),
                 "attention map 'head': expected [1, 1], got [2, 1]"));
  CHECK(section.blocks().empty());
}

TEST_CASE("runs: what folders tell, with and without a record", "[report]") {
  const TemporaryFolder folder;
  train({.epochs = 3, .folder = folder.path(), .notes = {{"text", "x"}}});
  const RunRecord run = read_run(folder.path());
  CHECK(run.name == folder.path().string());
  CHECK(run.state == "finished");
  CHECK(run.steps == 18);
  CHECK(run.seconds.value() > 0.0);
  CHECK(run.best_name == "validation_loss");
  CHECK(run.best_step > 0);
  CHECK(std::ranges::find(run.settings, std::pair<std::string, std::string>("seed", "17")) !=
        run.settings.end());
  CHECK(recorded_notes(folder.path()) ==
        std::vector<std::pair<std::string, std::string>>{{"text", "x"}});

  std::filesystem::remove(folder / "run.json");
  const RunRecord old = read_run(folder.path());
  CHECK(old.steps == 18);
  CHECK(old.best_step == run.best_step);
  CHECK(old.best_value == Approx(run.best_value));
  CHECK((old.state.empty() && old.settings.empty() && !old.seconds));
  CHECK(recorded_notes(folder.path()).empty());
  const std::vector<RunRecord> runs{run, old};
  write_comparison(folder / "runs.html", runs);
  CHECK(contains(bytes_of(folder / "runs.html"), "application/json"));
  CHECK_THROWS_AS(write_comparison(folder / "none.html", {}), ValueError);
}

TEST_CASE("runs: the best value of metrics without a record is the lowest", "[report]") {
  const TemporaryFolder folder;
  train({.epochs = 1, .folder = folder.path()});
  std::filesystem::remove(folder / "run.json");
  const std::string trained = bytes_of(folder / "metrics.csv");
  std::string metrics = trained.substr(0, trained.find('\n') + 1);
  const auto columns = std::ranges::count(metrics, ',') + 1;
  for (int step = 0; const char* value : {"0.5", "0.25", "0.75"}) {
    metrics += std::to_string(++step);
    for (auto column = columns; column > 1; --column) metrics.append(",").append(value);
    metrics += '\n';
  }
  write_bytes(folder / "metrics.csv", metrics);
  CHECK(read_run(folder.path()).best_value == 0.25);
}

TEST_CASE("runs: folders and records that are none are refused", "[report]") {
  const TemporaryFolder folder;
  const auto error = [&] { return message_of<FileError>([&] { read_run(folder.path()); }); };
  CHECK(
      contains(error(), "metrics.csv\": expected the metrics of a training run, got no such file"));
  write_bytes(folder / "metrics.csv", "step,epoch,loss,learning_rate,grad_norm,tokens_per_s\n");
  CHECK(read_run(folder.path()).steps == 0);
  for (const char* text : {"", "{}", "[]", "{\"form\":\"1\"}", "\xFF"}) {
    write_bytes(folder / "run.json", text);
    CHECK(
        contains(error(), "run.json\": expected the record of a training run, got different JSON"));
  }
  write_bytes(folder / "run.json", "{\"form\":2}");
  CHECK(contains(error(), "expected format 1 or older, got format 2 of a newer weft"));
  write_bytes(folder / "run.json", "{\"form\":1,\"step\":\"x\"}");
  CHECK(contains(error(), "expected an integer ≥ 0 as 'step', got \"x\""));
  CHECK(recorded_notes(folder.path()).empty());
}
