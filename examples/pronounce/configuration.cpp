#include "examples/pronounce/configuration.hpp"

#include <type_traits>

#include <weft/autograd/error.hpp>

namespace weft::pronounce {

Configuration Configuration::quick() {
  Configuration configuration;
  configuration.width = 96;
  configuration.layers = 2;
  configuration.heads = 4;
  configuration.rotary_base = 10000.0;
  configuration.dropout = 0.0;
  configuration.epochs = 5;
  configuration.batch = 32;
  configuration.parts = 2;
  configuration.lr = 2e-3;
  configuration.warmup = 300;
  configuration.weight_decay = 0.01;
  configuration.label_smoothing = 0.1;
  configuration.clip_norm = 1.0;
  return configuration;
}

Configuration Configuration::full() {
  Configuration configuration = quick();
  configuration.width = 128;
  configuration.layers = 3;
  configuration.dropout = 0.05;
  configuration.epochs = 22;
  configuration.batch = 64;
  configuration.warmup = 1000;
  return configuration;
}

TransformerOptions Configuration::transformer_options() const {
  return {.num_blocks = layers,
          .block = {.num_hiddens = width,
                    .ffn_num_hiddens = 4 * width,
                    .num_heads = heads,
                    .dropout = dropout,
                    .activation = Activation::relu,
                    .norm_first = true,
                    .rotary = RotaryOptions{.base = rotary_base}}};
}

void Configuration::check_settings_equal(const Configuration& other) const {
  std::vector<double> expected_values;
  other.for_each_setting([&](const char*, const char*, auto value, auto, auto) {
    expected_values.push_back(static_cast<double>(value));
  });
  auto expected = expected_values.begin();
  for_each_setting([&](const char* name, const char*, auto value, auto, auto) {
    if (static_cast<double>(value) != *expected)
      fail<ValueError>(std::string("--") + name, *expected, value);
    ++expected;
  });
}

void Configuration::check_state() const {
  for_each_setting([](const char* name, const char*, auto value, auto lowest, auto highest) {
    if (!(lowest <= value && value <= highest))
      fail<ValueError>(name, concatenate_text(lowest, " … ", highest), value);
  });
  if (width % heads != 0)
    fail<ValueError>("heads", concatenate_text("a divisor of the width ", width), heads);
}

void Configuration::state(State<float>& state) {
  for_each_setting([&](const char* name, const char*, auto& value, auto, auto) {
    if constexpr (std::is_same_v<decltype(value), double&>)
      state.number(name, value);
    else
      state.integer(name, value);
  });
  state.text("letters", letters);
  state.text("phones", phones);
}

}  // namespace weft::pronounce
