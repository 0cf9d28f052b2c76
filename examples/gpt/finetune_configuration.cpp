#include "examples/gpt/finetune_configuration.hpp"

#include <weft/train/weights/name_pattern.hpp>
#include "examples/common/settings.hpp"

namespace weft::gpt {

NameFilter FinetuneConfiguration::adapted_layers() const { return matching(layers, "layers"); }

void FinetuneConfiguration::check_state() const {
  examples::check_settings(*this);
  static_cast<void>(adapted_layers());
}

void FinetuneConfiguration::state(State<float>& state) {
  examples::save_settings(state, *this);
  state.number("frozen_sum", frozen_sum);
  state.integer("chat_date", chat_date);
}

}  // namespace weft::gpt
