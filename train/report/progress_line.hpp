// ProgressLine: shows the progress of training on one line of a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "weft/autograd/export.hpp"

namespace weft {

// The contents of the line.
struct ProgressReport {
  std::int64_t epoch = 1;             // from 1
  std::int64_t epochs = 1;            // of the training
  std::int64_t step = 0;              // from 1
  std::int64_t total_steps = 0;       // of the training
  double loss = 0.0;                  // of the step
  double learning_rate = 0.0;         // of the step
  double grad_norm = 0.0;             // before clipping
  double labels_per_second = 0.0;     // of the batches
  std::string label_unit = "tokens";  // what these are
  double seconds_left = 0.0;          // shown if it is finite
};

// "epoch 3/12  step 1200/9480 [===>      ] loss 0.834 lr 2.0e-03 norm 0.71 15.2k tok/s 6:41 left",
// in at most `width` columns: the bar shrinks first, then the rightmost fields are dropped.
WEFT_API std::string progress_text(const ProgressReport& report, int width);

// Writes reports to a stream: on a terminal by redrawing one line, at most ten times a second;
// otherwise as a new line when nothing was written for 30 seconds. The report of the last step is
// always written.
class WEFT_API ProgressLine {
 public:
  // A null stream disables output. Only std::cout, std::cerr and std::clog can be terminals.
  explicit ProgressLine(std::ostream* output);
  // Ends the line.
  ~ProgressLine();

  void show(const ProgressReport& report);  // writes it if it is time to
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
