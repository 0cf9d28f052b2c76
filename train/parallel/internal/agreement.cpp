#include "train/parallel/internal/agreement.hpp"

#include <algorithm>
#include <sstream>

#include "weft/autograd/error.hpp"
#include "weft/version.hpp"
#include "train/files/file_contents.hpp"
#include "train/files/xxh128.hpp"

namespace weft {
namespace {

std::string digest(const std::string& text) {
  Xxh128 hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.text();
}

}  // namespace

void check_same(ProcessGroup& processes, const std::string& what, const std::string& value) {
  const std::vector<std::string> values = processes.gather(value);
  for (std::size_t process = 1; process < values.size(); ++process)
    if (values[process] != values.front())
      fail<ValueError>(concatenate_text("process ", process + 1, " of ", values.size(), ": ", what),
                       values.front() + " as in the first process", values[process]);
}

void check_same_program(ProcessGroup& processes) {
  check_same(processes, "version of weft", WEFT_VERSION);
  check_same(processes, "program", digest(file_contents("/proc/self/exe").value_or("")));
}

template <class T>
void check_same_model(ProcessGroup& processes, const NamedParameters<T>& parameters) {
  std::ostringstream names;
  Xxh128 values;
  for (const auto& [name, parameter] : parameters) {
    names << name << ' ' << parameter->shape() << '\n';
    values.add(std::as_bytes(parameter->value().values()));
  }
  check_same(processes, "names and shapes of the parameters", digest(names.str()));
  check_same(processes, "initial weights", values.text());
}

EndVote::EndVote(ProcessGroup& processes)
    : processes_(processes), votes_(static_cast<std::size_t>(processes.size())) {}

void EndVote::take(int exit_status, bool stops) {
  std::ranges::fill(votes_, 0.0);
  votes_[static_cast<std::size_t>(processes_.rank())] = 2.0 * exit_status + (stops ? 1.0 : 0.0);
  processes_.sum(votes_);
  exit_status_ = 0;
  stops_ = false;
  for (const double vote : votes_) {
    exit_status_ = std::max(exit_status_, static_cast<int>(vote) / 2);
    stops_ = stops_ || static_cast<int>(vote) % 2 == 1;
  }
}

template void check_same_model(ProcessGroup&, const NamedParameters<float>&);
template void check_same_model(ProcessGroup&, const NamedParameters<double>&);

}  // namespace weft
