#include "train/parallel/internal/agreement.hpp"

#include <algorithm>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/version.hpp"
#include "train/files/internal/random_access_file.hpp"
#include "train/files/internal/xxh128.hpp"

namespace weft {
namespace {

std::string digest(const std::string& text) {
  Xxh128 hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.text();
}

}  // namespace

void check_same(ProcessGroup& processes, const std::string& what, const std::string& value) {
  const std::vector<std::string> values = processes.all_gather(value);
  for (std::size_t process = 1; process < values.size(); ++process)
    if (values[process] != values.front())
      fail<ValueError>(str_cat("process ", process + 1, " of ", values.size(), ": ", what),
                       values.front() + ", as in process 1", values[process]);
}

void check_same_program(ProcessGroup& processes) {
  check_same(processes, "version of weft", WEFT_VERSION);
  check_same(processes, "program", digest(file_contents("/proc/self/exe").value_or("")));
}

template <class T>
void check_same_model(ProcessGroup& processes, const NamedParameters<T>& parameters) {
  TextStream names;
  Xxh128 values;
  for (const auto& [name, parameter] : parameters) {
    names << name << ' ' << parameter->shape() << '\n';
    values.add(std::as_bytes(parameter->value().values()));
  }
  check_same(processes, "names and shapes of the parameters", digest(names.str()));
  check_same(processes, "initial weights", values.text());
}

EndVote common_vote(ProcessGroup& processes, const EndVote& own) {
  std::vector<double> votes(static_cast<std::size_t>(processes.size()));
  votes[static_cast<std::size_t>(processes.rank())] = 2.0 * own.exit_status + (own.stops ? 1 : 0);
  processes.all_reduce(votes);
  EndVote common;
  for (const double vote : votes) {
    common.exit_status = std::max(common.exit_status, static_cast<int>(vote) / 2);
    common.stops = common.stops || static_cast<int>(vote) % 2 == 1;
  }
  return common;
}

template void check_same_model(ProcessGroup&, const NamedParameters<float>&);
template void check_same_model(ProcessGroup&, const NamedParameters<double>&);

}  // namespace weft
