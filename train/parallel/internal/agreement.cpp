#include "train/parallel/internal/agreement.hpp"

#include <algorithm>
#include <sstream>

#include "weft/autograd/error.hpp"
#include "weft/version.hpp"
#include "train/files/open_file.hpp"
#include "train/files/xxh128.hpp"

namespace weft {
namespace {

std::string digest(std::span<const std::byte> bytes) {
  Xxh128 hash;
  hash.add(bytes);
  return hash.text();
}

}  // namespace

std::vector<Common> common_program() {
  const std::string program = file_contents("/proc/self/exe").value_or("");
  return {{"version of weft", WEFT_VERSION},
          {"program", digest(std::as_bytes(std::span(program)))}};
}

template <class T>
std::vector<Common> common_model(const NamedParameters<T>& parameters) {
  std::vector<Common> items;
  std::ostringstream names;
  Xxh128 values;
  for (const auto& [name, parameter] : parameters) {
    names << name << ' ' << parameter->shape() << '\n';
    values.add(std::as_bytes(parameter->value().values()));
  }
  const std::string text = names.str();
  return {{"names and shapes of the parameters", digest(std::as_bytes(std::span(text)))},
          {"initial weights", values.text()}};
}

void check_common(ProcessGroup& processes, const std::vector<Common>& items) {
  std::string text;
  for (const auto& [name, value] : items) text += name + '\n' + value + '\n';
  const std::vector<std::string> texts = processes.gather(text);
  for (std::size_t process = 1; process < texts.size(); ++process) {
    std::istringstream first(texts.front()), other(texts[process]);
    std::string name, expected, other_name, got;
    while (std::getline(first, name) && std::getline(first, expected)) {
      std::getline(other, other_name);
      std::getline(other, got);
      if (name != other_name || expected != got)
        fail<ValueError>(
            concatenate_text("process ", process + 1, " of ", texts.size(), ": ", name),
            expected + " as in the first process", got);
    }
  }
}

EndVote::EndVote(ProcessGroup* processes)
    : processes_(processes),
      votes_(processes ? static_cast<std::size_t>(processes->size()) : 1),
      counts_(votes_.size(), 1) {}

void EndVote::take(int exit_status, bool stops) {
  exit_status_ = exit_status;
  stops_ = stops;
  if (!processes_) return;
  std::fill(votes_.begin(), votes_.end(), 0.0);
  votes_[static_cast<std::size_t>(processes_->rank())] = 2.0 * exit_status + (stops ? 1.0 : 0.0);
  processes_->gather(votes_, counts_);
  for (const double vote : votes_) {
    exit_status_ = std::max(exit_status_, static_cast<int>(vote) / 2);
    stops_ = stops_ || static_cast<int>(vote) % 2 == 1;
  }
}

void on_first(ProcessGroup& processes, const std::function<void()>& work) {
  processes.from_first([&] {
    work();
    return std::string();
  });
}

template std::vector<Common> common_model(const NamedParameters<float>&);
template std::vector<Common> common_model(const NamedParameters<double>&);

}  // namespace weft
