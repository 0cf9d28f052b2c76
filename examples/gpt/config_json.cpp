#include "examples/gpt/config_json.hpp"

#include <string>

#include "examples/common/json_config.hpp"

namespace weft::gpt {
namespace {

// The names of activations in transformers.
constexpr EnumNames<Activation, 7> activations{{
    {Activation::gelu_tanh, "gelu_new"},
    {Activation::gelu_tanh, "gelu_pytorch_tanh"},
    {Activation::gelu, "gelu"},
    {Activation::relu, "relu"},
    {Activation::silu, "silu"},
    {Activation::silu, "swish"},
    {Activation::tanh, "tanh"},
}};

// Settings with which the model computes something else.
struct Variant {
  const char* name;
  bool supported;
};
constexpr Variant variants[] = {
    {"scale_attn_weights", true},
    {"scale_attn_by_inverse_layer_idx", false},
    {"add_cross_attention", false},
};

}  // namespace

GptOptions gpt_options(const std::filesystem::path& path) {
  const examples::JsonConfig config(path);
  for (const auto& [name, supported] : variants)
    if (config.flag(name, supported) != supported)
      config.fail_on(name, supported ? "true" : "false");
  std::string max_len = "n_positions";
  for (const char* const other : {"n_ctx", "block_size"})
    if (!config.has(max_len) && config.has(other)) max_len = other;
  const std::string activation = "configuration '" + path.string() + "': activation_function";
  GptOptions options{
      .vocabulary_size = config.size("vocab_size"),
      .max_len = config.size(max_len),
      .num_hiddens = config.size("n_embd"),
      .num_heads = config.size("n_head"),
      .num_blocks = config.size("n_layer"),
      .bias = config.flag("bias", true),
      .tied = config.flag("tie_word_embeddings", true),
      .activation = value_named(activation.c_str(), config.text("activation_function", "gelu_new"),
                                activations),
      .norm_eps = config.number("layer_norm_epsilon", 1e-5)};
  if (config.has("n_inner")) options.ffn_num_hiddens = config.size("n_inner");
  return options;
}

}  // namespace weft::gpt
