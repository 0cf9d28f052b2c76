#include "examples/gpt/finetune_configuration.hpp"

#include <regex>

#include <weft/autograd/error.hpp>
#include "examples/common/settings.hpp"

namespace weft::gpt {

NameFilter FinetuneConfiguration::adapted_layers() const {
  try {
    return [expression = std::regex(layers)](const std::string& name) {
      return std::regex_match(name, expression);
    };
  } catch (const std::regex_error&) {
    fail<ValueError>("layers", "a regular expression", "'" + layers + "'");
  }
}

void FinetuneConfiguration::check_state() const {
  examples::check_settings(*this);
  static_cast<void>(adapted_layers());
}

void FinetuneConfiguration::state(State<float>& state) {
  examples::save_settings(state, *this);
  state.number("frozen_sum", frozen_sum);
}

}  // namespace weft::gpt
