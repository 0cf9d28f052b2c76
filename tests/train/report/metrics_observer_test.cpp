#include "train/report/internal/metrics_observer.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/ordinary_user.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

const std::vector<std::string> columns = {"val_loss", "val_error"};
const std::string header =
    "step,epoch,loss,learning_rate,grad_norm,tokens_per_s,val_loss,val_error\n";

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// An observer that keeps the rows of a file up to `step`, and writes a row for each step.
MetricsObserver begun(const std::filesystem::path& path, const std::vector<std::string>& names,
                      std::int64_t step) {
  MetricsObserver metrics(path, 1, [](double loss) { return loss; });
  metrics.begin({.step = step, .columns = names});
  return metrics;
}

}  // namespace

TEST_CASE("metrics: one row per step, validation columns empty without a validation", "[train]") {
  const TemporaryFolder folder;
  MetricsObserver metrics = begun(folder / "metrics.csv", columns, 0);
  StepReport report{.step = 10,
                    .loss = 0.5,
                    .learning_rate = 0.001,
                    .grad_norm = 2.25,
                    .labels_per_second = 1000};
  metrics.after_step(report);
  report.step = 20;
  report.is_validated = true;
  report.loss = 0.25;
  report.grad_norm = 1.5;
  metrics.after_step(report);
  CHECK(metrics.row().empty());
  metrics.after_validation({.step = 20, .values = {0.75, 0.5}});
  CHECK(metrics.row() == std::vector<std::optional<double>>{1.0, 0.25, 0.001, 1.5, 1000.0, 0.75,
                                                            0.5});  // all but the step
  CHECK(text_of(folder / "metrics.csv") ==
        header + "10,1,0.5,0.001,2.25,1000,,\n" + "20,1,0.25,0.001,1.5,1000,0.75,0.5\n");
}

TEST_CASE("metrics: a row every few steps, and at the end of an epoch", "[train]") {
  const TemporaryFolder folder;
  MetricsObserver metrics(folder / "metrics.csv", 3, [](double loss) { return loss; });
  metrics.begin({.columns = columns});
  std::vector<std::int64_t> rows;
  for (std::int64_t step = 1; step <= 8; ++step) {
    metrics.after_step({.step = step, .ends_epoch = step == 4});
    if (!metrics.row().empty()) rows.push_back(step);
  }
  CHECK(rows == std::vector<std::int64_t>{3, 4, 6});
}

TEST_CASE("metrics: rows past the step at which training resumes are removed", "[train]") {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.csv";
  const std::string first = "10,1,0.5,0.001,2.25,1000,,\n", second = "20,1,0.25,0.1,1.5,1,,\n";
  std::ofstream(path) << header << first << second << "30,1,0.";
  begun(path, columns, 30);
  CHECK(text_of(path) == header + first + second);
  begun(path, columns, 19);
  CHECK(text_of(path) == header + first);
  MetricsObserver metrics = begun(path, columns, 10);
  metrics.after_step({.step = 11,
                      .epoch = 2,
                      .loss = 1,
                      .learning_rate = 1,
                      .grad_norm = 1,
                      .labels_per_second = 1});
  CHECK(text_of(path) == header + first + "11,2,1,1,1,1,,\n");
}

TEST_CASE("metrics: other validation columns are merged by their names", "[train]") {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.csv";
  const std::string own = "step,epoch,loss,learning_rate,grad_norm,tokens_per_s";
  std::ofstream(path) << header << "10,1,0.5,0.001,2.25,1000,,\n20,1,0.25,0.1,1.5,1,0.75,0.5\n";
  MetricsObserver metrics = begun(path, {"accuracy", "val_loss"}, 20);
  CHECK(metrics.columns().back() == "val_error");
  StepReport report{.step = 30,
                    .is_validated = true,
                    .loss = 1,
                    .learning_rate = 1,
                    .grad_norm = 1,
                    .labels_per_second = 1};
  metrics.after_step(report);
  metrics.after_validation({.step = 30, .values = {0.9, 0.25}});
  CHECK(text_of(path) == own +
                             ",accuracy,val_loss,val_error\n10,1,0.5,0.001,2.25,1000,,,\n"
                             "20,1,0.25,0.1,1.5,1,,0.75,0.5\n30,1,1,1,1,1,0.9,0.25,\n");
  begun(path, {}, 20);
  CHECK(text_of(path) == own +
                             ",accuracy,val_loss,val_error\n10,1,0.5,0.001,2.25,1000,,,\n"
                             "20,1,0.25,0.1,1.5,1,,0.75,0.5\n");
}

TEST_CASE("metrics: training from the start overwrites the file", "[train]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "metrics.csv") << "anything\n1,2\n";
  begun(folder / "metrics.csv", columns, 0);
  CHECK(text_of(folder / "metrics.csv") == header);
}

TEST_CASE("metrics: a different table, a missing directory and invalid names throw", "[train]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "metrics.csv") << "step,loss\n";
  CHECK_THROWS_AS(begun(folder / "metrics.csv", columns, 5), FileError);
  CHECK_THROWS_AS(begun(folder / "missing" / "metrics.csv", columns, 0), FileError);
  CHECK_THROWS_AS(begun(folder / "metrics.csv", {"a,b"}, 0), ValueError);
}

TEST_CASE("metrics: a file that cannot be read is refused, and kept", "[train]") {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.csv";
  for (const std::int64_t last_step : {0, 10}) {
    REQUIRE(::mkfifo(path.c_str(), 0666) == 0);
    CHECK(contains(message_of<FileError>([&] { begun(path, columns, last_step); }),
                   "expected a regular file, got a device, pipe or socket"));
    std::filesystem::remove(path);

    std::filesystem::create_directory(path);
    CHECK(contains(message_of<FileError>([&] { begun(path, columns, last_step); }),
                   "expected a regular file, got a directory"));
    std::filesystem::remove(path);

    std::filesystem::create_symlink(path, path);
    CHECK(contains(message_of<FileError>([&] { begun(path, columns, last_step); }), "cannot read"));
    CHECK(std::filesystem::is_symlink(path));
    std::filesystem::remove(path);

    const std::string rows = header + "10,1,0.5,0.001,2.25,1000,,\n";
    std::ofstream(path) << rows;
    std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
    std::filesystem::permissions(path, std::filesystem::perms::none);
    {
      const OrdinaryUser user;
      CHECK(contains(message_of<FileError>([&] { begun(path, columns, last_step); }),
                     "Permission denied"));
    }
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    CHECK(text_of(path) == rows);
    std::filesystem::remove(path);
  }
}

TEST_CASE("metrics: a row that is none is refused, and all rows are kept", "[train]") {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.csv";
  const std::string rows =
      header + "10,1,0.5,0.001,2.25,1000,,\n" + "comment\n" + "20,1,0.5,0.001,2.25,1000,,\n";
  std::ofstream(path) << rows;
  CHECK(contains(
      message_of<FileError>([&] { begun(path, columns, 20); }),
      "metrics.csv\", line 3: expected a row that starts with a step number, got 'comment'"));
  CHECK(text_of(path) == rows);
}

TEST_CASE("metrics: a full disk throws", "[train]") {
  if (!std::filesystem::exists("/dev/full")) return;
  const TemporaryFolder folder;
  CHECK_THROWS_AS(begun("/dev/full/metrics.csv", columns, 0), FileError);
}
