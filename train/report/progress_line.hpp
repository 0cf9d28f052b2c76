// ProgressLine: shows the progress of training on one line of a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "weft/autograd/export.hpp"

namespace weft {

// The contents of a progress line.
struct ProgressReport {
  std::int64_t epoch = 1;             // current epoch, from 1
  std::int64_t epochs = 1;            // number of epochs in the run
  std::int64_t step = 0;              // current step, from 1
  std::int64_t total_steps = 0;       // number of steps in the run
  double loss = 0.0;                  // loss of the step
  double learning_rate = 0.0;         // learning rate of the step
  double grad_norm = 0.0;             // gradient norm before clipping
  double labels_per_second = 0.0;     // labels processed per second
  std::string label_unit = "tokens";  // name of the labels; see `label_unit`
  double seconds_left = 0.0;          // estimated time left; shown if finite
};

// Returns a line such as
//   epoch 3/12  step 1200/9480 [===>      ] loss 0.834 lr 2.0e-03 norm 0.71 15.2k tok/s 6:41 left
// in at most `width` columns. If it is too long, the bar shrinks first, then fields are dropped
// from the right.
WEFT_API std::string progress_text(const ProgressReport& report, int width);

// Returns std::cerr if it is a terminal, otherwise null.
WEFT_API std::ostream* terminal_output();

// Writes progress reports to a stream. On a terminal, it redraws one line, at most ten times a
// second. Otherwise, it writes a new line if nothing was written for 30 seconds. The report of the
// last step is always written.
class WEFT_API ProgressLine {
 public:
  // Creates a progress line on a stream. A null stream disables output. Only std::cout, std::cerr
  // and std::clog can be terminals.
  explicit ProgressLine(std::ostream* output);
  // Ends the progress line on a terminal.
  ~ProgressLine();

  // Writes a report, unless the previous one was written too recently.
  void show(const ProgressReport& report);
  // Writes a permanent line above the progress line.
  void message(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;

  std::ostream* output_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point next_report_ = Clock::now();
};

}  // namespace weft
