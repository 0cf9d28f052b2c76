// Programs whose locale has a decimal comma: what is written, compared and read stays the same.
#include <algorithm>
#include <clocale>
#include <iomanip>
#include <locale>
#include <regex>
#include <sstream>

#include <weft/autograd/gradcheck.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/layers/linear.hpp>
#include <weft/layers/summary.hpp>
#include <weft/train/data/csv.hpp>
#include <weft/train/optim/schedule.hpp>
#include <weft/train/report/progress_line.hpp>
#include <weft/train/report/run_record.hpp>
#include <weft/train/weights/load_weights.hpp>
#include <weft/train/weights/save_weights.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/toy_training.hpp"

using namespace weft;

namespace {

// "1.234.567,5", with groups in integers, too.
class GermanNumbers final : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
  std::string do_truename() const override { return "wahr"; }
};

// The locale of C++ and, where the machine has one of these, that of C.
class GermanLocale {
 public:
  GermanLocale() {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"})
      if (std::setlocale(LC_ALL, name)) break;
    before_ = std::locale::global(std::locale(std::locale::classic(), new GermanNumbers));
  }
  ~GermanLocale() {
    std::locale::global(before_);
    std::setlocale(LC_ALL, "C");
  }
  GermanLocale(const GermanLocale&) = delete;
  GermanLocale& operator=(const GermanLocale&) = delete;

 private:
  std::locale before_;
};

// Calls work() in a program with a decimal comma.
template <class Work>
auto in_german(const Work& work) {
  const GermanLocale german;
  return work();
}

// A training of 1,200 steps, of which it does 1,100 before it resumes. Returns what it says without
// the progress lines, which depend on the clock.
std::string train(const std::filesystem::path& folder) {
  std::ostringstream output;
  for (const std::int64_t steps : {1100, 1200}) {
    ToyTraining<float> toy(8, 4);
    Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
                    {.epochs = 1000,
                     .max_steps = steps,
                     .clip_norm = 1.5,
                     .schedule = warmup_cosine_schedule(
                         {.peak = 0.0025, .warmup_steps = 1000, .total_steps = 5000}),
                     .plateau = Plateau{.factor = 0.75, .patience = 2, .threshold = 0.0005},
                     .folder = folder,
                     .resume = true,
                     .save_every_steps = 100,
                     .notes = {{"scale", str_cat(1234.5)}},
                     .output = &output,
                     .keep_checkpoints = 2});
    trainer.validate_on(toy.batches, {.every_steps = 300});
    trainer.show_examples([](ReportSection& section) {
      section.confusion("classes", {"a", "b"}, Tensor<double>({2, 2}, {1234.5, 1, 0, 0.25}));
    });
    trainer.run();
  }
  std::istringstream lines(output.str());
  std::string text;
  for (std::string line; std::getline(lines, line);)
    if (!contains(line, "tok/s")) text += line + '\n';
  return text;
}

// Replaces what is between each `key` and the next of the characters `ends`.
void hide(std::string& text, const std::string& key, const char* ends) {
  for (std::size_t at = 0; (at = text.find(key, at)) != text.npos;) {
    at += key.size();
    text.replace(at, std::min(text.find_first_of(ends, at), text.size()) - at, "TIME");
  }
}

// Returns a text without what depends on the clock or the folder.
std::string without_times(std::string text, const std::filesystem::path& folder) {
  hide(text, "\"seconds\":", ",}");
  hide(text, "\"started\":", ",}");
  hide(text, "\"tokens_per_s\":", "}");
  for (std::size_t at = 0; (at = text.find(folder.string())) != text.npos;)
    text.replace(at, folder.string().size(), "FOLDER");
  return text;
}

std::string metrics_without_times(const std::filesystem::path& folder) {
  static const std::regex rate(R"((\n[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,)[^,\n]*)");
  return std::regex_replace(bytes_of(folder / "metrics.csv"), rate, "$1RATE");
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace

TEST_CASE("locale: a training leaves the same files in a program with a decimal comma", "[train]") {
  const TemporaryFolder usual, german;
  const std::string said = train(usual.path());
  const std::string said_in_german = in_german([&] { return train(german.path()); });
  CHECK(without_times(said, usual.path()) == without_times(said_in_german, german.path()));
  CHECK(contains(said_in_german, "epoch 600, step 1200: validation_loss "));
  CHECK_FALSE(contains(said_in_german, "and is now"));
  CHECK(names_in(german.path()) ==
        std::vector<std::string>{"best.h5", "checkpoints.txt", "last.h5", "metrics.csv",
                                 "report.html", "run.json", "step-1198.h5", "step-1200.h5"});
  for (const char* name : {"best.h5", "checkpoints.txt", "last.h5", "step-1198.h5", "step-1200.h5"})
    CHECK((bytes_of(german / name) == bytes_of(usual / name)));
  CHECK(metrics_without_times(german.path()) == metrics_without_times(usual.path()));
  for (const char* name : {"run.json", "report.html"})
    CHECK((without_times(bytes_of(german / name), german.path()) ==
           without_times(bytes_of(usual / name), usual.path())));
  CHECK(contains(bytes_of(german / "run.json"), "peak 0.0025, warmup_steps 1000"));
}

TEST_CASE("locale: runs are read and compared in a program with a decimal comma", "[report]") {
  const TemporaryFolder folder;
  train(folder.path());
  const RunRecord usual = read_run(folder.path());
  const RunRecord german = in_german([&] { return read_run(folder.path()); });
  CHECK(german.json == usual.json);
  CHECK(german.settings == usual.settings);
  CHECK(german.best_value == usual.best_value);
  write_comparison(folder / "usual.html", {{usual, usual}});
  in_german([&] { write_comparison(folder / "german.html", {{german, german}}); });
  CHECK((bytes_of(folder / "german.html") == bytes_of(folder / "usual.html")));
}

TEST_CASE("locale: weights and tables are the same in a program with a decimal comma",
          "[weights]") {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name) {
    Random random(1);
    Linear<float> model({.in_features = 1250, .out_features = 3}, random);
    save_weights(folder / (name + ".safetensors"), model);
    save_weights(folder / (name + ".h5"), model);
    return str_cat(load_weights(folder / (name + ".h5"), model), parameter_table(model), model);
  };
  const std::string usual = write("usual"), german = in_german([&] { return write("german"); });
  CHECK(usual == german);
  for (const char* extension : {".safetensors", ".h5"})
    CHECK((bytes_of(folder / ("usual" + std::string(extension))) ==
           bytes_of(folder / ("german" + std::string(extension)))));
  write_bytes(folder / "table.csv", "a,b\n1234.5,0.25\n-1e3,7\n");
  const Tensor<double> read = in_german([&] {
    return read_csv(folder / "table.csv").numbers<double>({"a", "b"});
  });
  CHECK(std::ranges::equal(read, std::vector<double>{1234.5, 0.25, -1000.0, 7.0}));
}

TEST_CASE("locale: messages and reports are written to a stream with a decimal comma as to others",
          "[train]") {
  const auto described = [](bool is_german) {
    std::ostringstream out;
    if (is_german) out.imbue(std::locale(std::locale::classic(), new GermanNumbers));
    Parameter<double> w(Tensor<double>::full({1250}, 0.5));
    out << gradcheck([&](Tape<double>& tape) { return sum(tanh(tape.parameter(w))); }, {{"w", &w}})
        << Shape{1250, 3};
    return out.str();
  };
  CHECK(described(true) == described(false));
  CHECK(contains(described(true), "1250 gradients compared"));
}

TEST_CASE("locale: progress, schedules and errors have decimal points in every program",
          "[train]") {
  const GermanLocale german;
  CHECK(progress_text({.epochs = 2,
                       .step = 1200,
                       .total_steps = 2500,
                       .loss = 0.8341,
                       .learning_rate = 0.002,
                       .grad_norm = 0.714,
                       .labels_per_second = 15234.0,
                       .seconds_left = 4001.0},
                      100) ==
        "epoch 1/2 1200/2500 [===========>            ] loss 0.834 "
        "lr 2.0e-3 norm 0.71 15k tok/s 1:06:41 left");
  CHECK(constant_schedule(0.0025).description() == "constant, lr 0.0025");
  CHECK(contains(message_of<ValueError>([] { constant_schedule(-1234.5); }), "got -1234.5"));
  CHECK(str_cat(1234567, ' ', 0.5, ' ', true) == "1234567 0.5 1");
  TextStream text;
  text << std::fixed << std::setprecision(1) << 1234.5;
  CHECK(text.str() == "1234.5");
}
