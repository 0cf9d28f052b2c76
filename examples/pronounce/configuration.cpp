#include "examples/pronounce/configuration.hpp"

#include <weft/autograd/error.hpp>
#include "examples/common/settings.hpp"

namespace weft::pronounce {

Configuration Configuration::quick() {
  Configuration configuration;
  configuration.width = 96;
  configuration.layers = 2;
  configuration.heads = 4;
  configuration.rotary_base = 10000.0;
  configuration.rms_norm = true;
  configuration.qk_norm = true;
  configuration.squared_relu = true;
  configuration.dropout = 0.0;
  configuration.epochs = 5;
  configuration.batch = 128;
  configuration.muon = true;
  configuration.adamw_lr_factor = 0.3;
  configuration.lr = 6e-3;
  configuration.final_lr = 0.0;
  configuration.warmup = 0;
  configuration.decay = 1.0;
  configuration.beta2 = 0.95;
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
  return configuration;
}

TransformerOptions Configuration::transformer_options() const {
  return {.num_blocks = layers,
          .num_hiddens = width,
          .ffn_num_hiddens = 4 * width,
          .num_heads = heads,
          .dropout = dropout,
          .activation = squared_relu ? Activation::squared_relu : Activation::relu,
          .norm_first = true,
          .rotary = RotaryOptions{.base = rotary_base},
          .qk_norm_eps = qk_norm ? std::optional(1e-5) : std::nullopt,
          .norm = rms_norm ? Norm::rms_norm : Norm::layer_norm};
}

void Configuration::check_state() const {
  examples::check_settings(*this);
  if (rotary_pairs != "halves")
    fail<ValueError>("rotary_pairs", "halves, which the model uses", "'" + rotary_pairs + "'");
  if (width % heads != 0)
    fail<ValueError>("heads", str_cat("a divisor of the width ", width), heads);
  check_optimization();
}

void Configuration::state(State<float>& state) {
  examples::save_settings(state, *this);
  state.text("letters", letters);
  state.text("phones", phones);
  state.text("rotary_pairs", rotary_pairs);
}

}  // namespace weft::pronounce
