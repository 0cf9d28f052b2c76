#include "train/distributed/internal/agreement.hpp"

#include <algorithm>
#include <sstream>

#include "weft/autograd/error.hpp"
#include "weft/version.hpp"
#include "train/files/file_contents.hpp"
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

void on_first(ProcessGroup& processes, const std::function<void()>& work) {
  processes.from_first([&] {
    work();
    return std::string();
  });
}

template std::vector<Common> common_model(const NamedParameters<float>&);
template std::vector<Common> common_model(const NamedParameters<double>&);

}  // namespace weft
