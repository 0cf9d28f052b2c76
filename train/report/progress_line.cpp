#include "weft/train/report/progress_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <vector>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

std::string fixed(double value, int digits) {
  return str_cat(std::fixed, std::setprecision(digits), value);
}

// Returns a number such as "2.0e-3".
std::string scientific(double value, int digits = 1) {
  std::string text = str_cat(std::scientific, std::setprecision(digits), value);
  if (const auto exponent = text.find_first_of("+-", 1);
      exponent != std::string::npos && text[exponent + 1] == '0')
    text.erase(exponent + 1, 1);
  return text;
}

std::string decimal(double value) {
  return std::abs(value) >= 1000.0 ? scientific(value) : fixed(value, 2);
}

// Returns a number with three significant digits: "0.834", "12.3", "3.00e-4".
std::string significant(double value) {
  if (std::abs(value) >= 1000.0) return scientific(value);
  if (value != 0.0 && std::abs(value) < 0.001) return scientific(value, 2);
  return str_cat(std::showpoint, std::setprecision(3), value);
}

// Returns a number such as "950", "1.5k", "15k" or "1.2M".
std::string thousands(double value) {
  const char* unit = "";
  for (const char* next : {"k", "M", "G"}) {
    if (value < 999.5) break;
    value /= 1000.0;
    unit = next;
  }
  return fixed(value, *unit && value < 9.95 ? 1 : 0) + unit;
}

// Returns a duration such as "6:41" or "1:06:41".
std::string duration(double seconds) {
  const auto total = static_cast<long>(std::clamp(seconds, 0.0, 3.6e6));
  const auto two = [](long value) { return str_cat(std::setfill('0'), std::setw(2), value); };
  return total < 3600 ? str_cat(total / 60, ':', two(total % 60))
                      : str_cat(total / 3600, ':', two(total / 60 % 60), ':', two(total % 60));
}

// Returns a progress bar, "[===>    ]", of `width` columns.
std::string bar(double progress, std::size_t width) {
  const std::size_t inner_width = width - 2;
  const auto filled =
      static_cast<std::size_t>(std::clamp(progress, 0.0, 1.0) * static_cast<double>(inner_width));
  std::string text(filled, '=');
  if (filled < inner_width) text += '>';
  text.resize(inner_width, ' ');
  return str_cat("[", text, "]");
}

// Returns the file descriptor of a standard stream; -1 for other streams.
int descriptor(const std::ostream* stream) {
  if (stream == &std::cout) return STDOUT_FILENO;
  if (stream == &std::cerr || stream == &std::clog) return STDERR_FILENO;
  return -1;
}

int terminal_width(const std::ostream* stream) {
  winsize size{};
  const bool known = ioctl(descriptor(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace

std::string progress_text(const ProgressReport& report, int width) {
  constexpr std::size_t smallest_bar = 6, largest_bar = 40;
  const auto columns = static_cast<std::size_t>(std::max(width, 0));
  const std::string position = str_cat("epoch ", report.epoch, "/", report.epochs, " ", report.step,
                                       "/", report.total_steps);
  std::vector<std::string> all = {
      str_cat(" loss ", significant(report.loss)),
      str_cat(" lr ", scientific(report.learning_rate)),
      str_cat(" norm ", decimal(report.grad_norm)),
      str_cat(" ", thousands(report.labels_per_second), " ",
              report.label_unit == "tokens" ? "tok" : report.label_unit, "/s")};
  if (std::isfinite(report.seconds_left))
    all.push_back(str_cat(" ", duration(report.seconds_left), " left"));
  std::string fields;
  for (const std::string& field : all)
    if (position.size() + fields.size() + field.size() <= columns) fields += field;
  const std::size_t free_columns = columns - std::min(columns, position.size() + fields.size() + 1);
  const double progress = static_cast<double>(report.step) /
                          static_cast<double>(std::max<std::int64_t>(report.total_steps, 1));
  const std::string progress_bar =
      free_columns < smallest_bar
          ? ""
          : str_cat(" ", bar(progress, std::min(free_columns, largest_bar)));
  return str_cat(position, progress_bar, fields).substr(0, columns);
}

std::ostream* terminal_output() { return isatty(descriptor(&std::cerr)) ? &std::cerr : nullptr; }

ProgressLine::ProgressLine(std::ostream* output)
    : output_(output), terminal_(output && isatty(descriptor(output))) {}

ProgressLine::~ProgressLine() {
  if (drawn_) *output_ << std::endl;
}

void ProgressLine::show(const ProgressReport& report) {
  using namespace std::chrono_literals;
  const auto now = Clock::now();
  const bool last = report.step >= report.total_steps;
  if (!output_ || (now < next_report_ && !last)) return;
  next_report_ = now + (terminal_ ? Clock::duration(100ms) : Clock::duration(30s));
  if (terminal_) {
    // Some terminals wrap a line that fills the last column.
    *output_ << '\r' << progress_text(report, terminal_width(output_) - 1) << "\033[K"
             << std::flush;
    drawn_ = true;
  } else {
    *output_ << progress_text(report, 80) << std::endl;
  }
}

void ProgressLine::message(const std::string& text) {
  if (!output_) return;
  if (drawn_) *output_ << "\r\033[K";
  drawn_ = false;
  // If the output is a file, a message replaces the next progress line.
  next_report_ = Clock::now() + std::chrono::seconds(terminal_ ? 0 : 30);
  *output_ << text << std::endl;
}

}  // namespace weft
