#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <sstream>

#include <weft/train/report/progress_line.hpp>
#include <weft/train/trainer.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

const ProgressReport report{.epoch = 3,
                            .epochs = 12,
                            .step = 2850,
                            .total_steps = 11400,
                            .loss = 0.8341,
                            .learning_rate = 2e-3,
                            .grad_norm = 0.714,
                            .labels_per_second = 15234.0,
                            .seconds_left = 401.0};

}  // namespace

TEST_CASE("progress line: all fields, and a bar in the remaining columns", "[train]") {
  CHECK(progress_text(report, 100) ==
        "epoch 3/12 2850/11400 [======>                  ] loss 0.834 lr 2.0e-3 norm 0.71 15k "
        "tok/s 6:41 left");
  CHECK(progress_text(report, 80) ==
        "epoch 3/12 2850/11400 [=>   ] loss 0.834 lr 2.0e-3 norm 0.71 15k tok/s 6:41 left");
}

TEST_CASE("progress line: never wider than the given width", "[train]") {
  ProgressReport large = report;
  large.epochs = large.epoch = 1000;
  large.step = large.total_steps = 123456789;
  large.loss = 1e7;
  large.grad_norm = 1e9;
  large.labels_per_second = 1.23e6;
  large.seconds_left = 1e9;
  for (const ProgressReport& shown : {report, large})
    for (int width = 0; width < 200; ++width)
      CHECK(progress_text(shown, width).size() <= static_cast<std::size_t>(width));
}

TEST_CASE("progress line: fields that do not fit are dropped", "[train]") {
  CHECK(progress_text(report, 37) == "epoch 3/12 2850/11400 loss 0.834");
  CHECK(progress_text(report, 40) == "epoch 3/12 2850/11400 [=>   ] loss 0.834");
}

TEST_CASE("progress line: large and small numbers", "[train]") {
  ProgressReport other = report;
  other.loss = 12345.0;
  other.learning_rate = 1e-10;
  other.grad_norm = 2.5e-4;
  other.labels_per_second = 1234.0;
  other.seconds_left = 3600.0 + 6 * 60 + 41;
  CHECK(progress_text(other, 79) ==
        "epoch 3/12 2850/11400 loss 1.2e+4 lr 1.0e-10 norm 0.00 1.2k tok/s 1:06:41 left");
  other.loss = 0.0;
  other.labels_per_second = 999.7;
  other.seconds_left = 3600.0;
  CHECK(progress_text(other, 79) ==
        "epoch 3/12 2850/11400 loss 0.00 lr 1.0e-10 norm 0.00 1.0k tok/s 1:00:00 left");
}

TEST_CASE("progress line: a time that is not known is not shown as a number", "[train]") {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  ProgressReport unknown = report;
  for (const double seconds : {std::nan(""), infinite, -infinite}) {
    unknown.seconds_left = seconds;
    CHECK_FALSE(contains(progress_text(unknown, 100), "left"));
  }
}

TEST_CASE("progress line: few and plain lines without a terminal", "[train]") {
  std::ostringstream out;
  {
    ProgressLine line(&out);
    for (int i = 0; i < 1000; ++i) line.show(report);
    line.message("saved");
  }
  CHECK(out.str() == progress_text(report, 80) + "\nsaved\n");
}

TEST_CASE("progress line: the last step is shown at once", "[train]") {
  std::ostringstream out;
  ProgressReport last = report;
  last.step = last.total_steps;
  ProgressLine line(&out);
  line.show(report);
  line.show(last);
  CHECK(out.str() == progress_text(report, 80) + "\n" + progress_text(last, 80) + "\n");
}

TEST_CASE("progress line: no output without a stream", "[train]") {
  ProgressLine line(nullptr);
  line.show(report);
  line.message("unseen");
}

TEST_CASE("progress line: by default on standard error, if it is a terminal", "[train]") {
  const int standard_error = dup(STDERR_FILENO), file = open("/dev/null", O_WRONLY);
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  dup2(file, STDERR_FILENO);
  std::ostream* const of_file = TrainerOptions().output;
  dup2(terminal, STDERR_FILENO);
  std::ostream* const of_terminal = TrainerOptions().output;
  dup2(standard_error, STDERR_FILENO);
  for (const int descriptor : {standard_error, file, terminal}) close(descriptor);
  CHECK(of_file == nullptr);
  CHECK(of_terminal == &std::cerr);
}
