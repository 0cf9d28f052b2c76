#include "examples/gpt/configuration.hpp"

#include <weft/autograd/error.hpp>
#include "examples/common/settings.hpp"

namespace weft::gpt {
namespace {

// Returns half the number of heads if it is even, otherwise the number of heads.
std::int64_t default_kv_heads(std::int64_t heads) { return heads % 2 == 0 ? heads / 2 : heads; }

// Returns the hidden size of a SwiGLU network, a multiple of 16, for which a block has about as
// many weights as a GPT-2 block: 12 · width².
std::int64_t swiglu_size(std::int64_t width, std::int64_t heads, std::int64_t kv_heads) {
  const std::int64_t attention = 2 * width * width + 2 * width * width * kv_heads / heads;
  const std::int64_t size = (12 * width * width - attention) / (3 * width);
  return std::max<std::int64_t>(16, (size + 8) / 16 * 16);
}

// The model and batches of `cpu`, in fewer steps: the recipe of the guide's page recipes.md.
Configuration muon() {
  Configuration configuration;
  configuration.modern = true;
  configuration.qk_norm = true;
  configuration.zero_init = true;
  configuration.untied = true;
  configuration.steps = 1000;
  configuration.muon = true;
  configuration.adamw_lr_factor = 0.3;
  configuration.lr = 0.015;
  configuration.final_lr = 0.0;
  configuration.warmup = 0;
  configuration.decay = 1.0;
  configuration.beta2 = 0.95;
  return configuration;
}

// A small model that trains in about a minute.
Configuration tiny() {
  Configuration configuration;
  configuration.layers = 3;
  configuration.width = 64;
  configuration.batch = 32;
  configuration.steps = 3000;
  configuration.lr = 3e-3;
  configuration.final_lr = 3e-4;
  configuration.validate_every = 500;
  configuration.validation_batches = 0;
  return configuration;
}

// nanoGPT's recipe for a GPU.
Configuration baby() {
  Configuration configuration;
  configuration.layers = 6;
  configuration.heads = 6;
  configuration.width = 384;
  configuration.context = 256;
  configuration.batch = 64;
  configuration.dropout = 0.2;
  configuration.steps = 5000;
  configuration.validate_every = 500;
  configuration.validation_batches = 0;
  return configuration;
}

// The smallest GPT-2.
Configuration gpt2() {
  Configuration configuration;
  configuration.layers = 12;
  configuration.heads = 12;
  configuration.width = 768;
  configuration.context = 1024;
  configuration.bias = true;
  configuration.vocabulary = 50257;
  configuration.batch = 1;
  configuration.accumulation = 8;
  configuration.lr = 6e-4;
  configuration.final_lr = 6e-5;
  configuration.warmup = 2000;
  configuration.beta2 = 0.95;
  configuration.steps = 100'000;
  configuration.validate_every = 1000;
  configuration.validation_batches = 64;
  return configuration;
}

// A model with as many weights as `cpu`, which trains in three minutes on two cores.
Configuration three_minutes() {
  Configuration configuration;
  configuration.modern = true;
  configuration.context = 128;
  configuration.batch = 4;
  configuration.steps = 7600;
  configuration.lr = 3e-3;
  configuration.final_lr = 0.0;
  configuration.validate_every = 1900;
  configuration.validation_batches = 0;
  return configuration;
}

struct Preset {
  const char* name;
  Configuration (*make)();
};
const Preset all_presets[] = {
    {"muon", muon}, {"tiny", tiny}, {"cpu", [] { return Configuration(); }},
    {"baby", baby}, {"gpt2", gpt2}, {"three-minutes", three_minutes},
};

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : all_presets) names.emplace_back(preset.name);
  return names;
}

}  // namespace

const std::vector<std::string> Configuration::presets = preset_names();

Configuration Configuration::preset(const std::string& name) {
  for (const Preset& preset : all_presets)
    if (name == preset.name) return preset.make();
  fail<ValueError>("preset", "one of Configuration::presets", "'" + name + "'");
}

GptOptions Configuration::model_options(Index vocabulary_size) const {
  GptOptions options{.vocabulary_size = vocabulary_size,
                     .max_len = context,
                     .num_hiddens = width,
                     .num_heads = heads,
                     .num_blocks = layers,
                     .dropout = dropout,
                     .bias = bias && !modern,
                     .tied = !untied,
                     .activation = squared_relu ? Activation::squared_relu : Activation::gelu,
                     .norm = rms_norm || modern ? Norm::rms_norm : Norm::layer_norm,
                     .qk_norm = qk_norm,
                     .zero_init = zero_init};
  if (rotary || modern) options.rotary.emplace();
  if (ffn > 0) options.ffn_num_hiddens = ffn;
  if (kv_heads > 0) options.num_kv_heads = kv_heads;
  if (!modern) return options;
  options.num_kv_heads = kv_heads > 0 ? kv_heads : default_kv_heads(heads);
  options.ffn_num_hiddens = ffn > 0 ? ffn : swiglu_size(width, heads, *options.num_kv_heads);
  options.swiglu = true;
  return options;
}

void Configuration::reset_unused(const examples::CommandLine& line) {
  Optimization::reset_unused(line);
  if (!modern) return;
  line.without_effect({"rms-norm", "rotary", "squared-relu"}, "with --modern");
  rms_norm = rotary = squared_relu = false;
}

void Configuration::check_state() const {
  examples::check_settings(*this);
  if (rotary_pairs != "halves")
    fail<ValueError>("rotary_pairs", "halves, which the model uses", "'" + rotary_pairs + "'");
  if (width % heads != 0)
    fail<ValueError>("heads", str_cat("a divisor of the width ", width), heads);
  if (kv_heads > 0 && heads % kv_heads != 0)
    fail<ValueError>("kv-heads", str_cat("a divisor of the number of heads ", heads), kv_heads);
  if ((modern || rotary) && width / heads % 2 != 0)
    fail<ValueError>("heads",
                     str_cat("an even width / heads, with --", modern ? "modern" : "rotary"),
                     width / heads);
  for (const auto& [name, value] :
       {std::pair("rms-norm", rms_norm), {"rotary", rotary}, {"squared-relu", squared_relu}})
    if (modern && value) fail<ValueError>(name, "false, because modern is set", "true");
  check_optimization();
}

void Configuration::state(State<float>& state) {
  examples::save_settings(state, *this);
  state.text("rotary_pairs", rotary_pairs);
}

}  // namespace weft::gpt
