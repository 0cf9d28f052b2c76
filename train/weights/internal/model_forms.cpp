#include "train/weights/internal/model_forms.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "weft/autograd/error.hpp"
#include "train/tokenizers/internal/json_entries.hpp"

namespace weft {
namespace {

using nlohmann::json;

// "rope_parameters", or the entries of older files.
RotaryOptions rotary_of(ModelConfig& config, double base, double part, Index head_size) {
  const json &parameters = config.at("rope_parameters"), &older = config.at("rope_scaling");
  const json& scaling = parameters.is_null() ? older : parameters;
  RotaryOptions options{.base = entry_or(parameters, "rope_theta", base)};
  part = entry_or(parameters, "partial_rotary_factor", part);
  if (part != 1.0) options.size = static_cast<Index>(static_cast<double>(head_size) * part);
  const auto type = entry_or<std::string>(scaling, "rope_type",
                                          entry_or<std::string>(scaling, "type", "default"));
  if (type == "linear" || type == "llama3") {
    options.factor = required_entry<double>(scaling, "factor");
  } else if (type != "default") {
    fail<ValueError>("rope_scaling", "default, linear or llama3",
                     concatenate_text('\'', type, '\''));
  }
  if (type == "llama3")
    options.band = {
        .low = required_entry<double>(scaling, "low_freq_factor"),
        .high = required_entry<double>(scaling, "high_freq_factor"),
        .original_len = required_entry<std::int64_t>(scaling, "original_max_position_embeddings")};
  return options;
}

GptOptions gpt2_options(ModelConfig& config, std::string_view) {
  config.require("scale_attn_weights", true);
  config.require("scale_attn_by_inverse_layer_idx", false);
  config.require("add_cross_attention", false);
  return {.vocabulary_size = config.size({"vocab_size"}),
          .max_len = config.size({"n_positions", "n_ctx", "block_size"}),
          .num_hiddens = config.size({"n_embd"}),
          .num_heads = config.size({"n_head"}),
          .num_blocks = config.size({"n_layer"}),
          .ffn_num_hiddens = config.size_if_given("n_inner"),
          .bias = config.flag("bias", true),
          .tied = config.flag("tie_word_embeddings", true),
          .activation = config.activation("activation_function", "gelu_new"),
          .norm_eps = config.number("layer_norm_epsilon", 1e-5)};
}

// What all models with rotary positions have.
GptOptions rotary_options(ModelConfig& config) {
  return {.vocabulary_size = config.size({"vocab_size"}),
          .max_len = config.size({"max_position_embeddings"}),
          .num_hiddens = config.size({"hidden_size"}),
          .num_heads = config.size({"num_attention_heads"}),
          .num_blocks = config.size({"num_hidden_layers"}),
          .ffn_num_hiddens = config.size({"intermediate_size"}),
          .tied = config.flag("tie_word_embeddings", false)};
}

Index head_size_of(const GptOptions& options) {
  return options.head_size.value_or(options.num_hiddens / options.num_heads);
}

// Llama, Mistral, Qwen2 and Qwen3.
GptOptions llama_options(ModelConfig& config, std::string_view type) {
  GptOptions options = rotary_options(config);
  config.require("hidden_act", "silu");
  config.require("rope_interleaved", false);
  const bool is_qwen = type.starts_with("qwen"),
             attention_bias = config.flag("attention_bias", false);
  options.head_size = config.size_if_given("head_dim");
  if (options.head_size == options.num_hiddens / options.num_heads) options.head_size.reset();
  options.bias = false;
  options.qkv_bias = type == "qwen2" || attention_bias;
  options.attention_output_bias = type != "qwen2" && attention_bias;
  options.ffn_bias = config.flag("mlp_bias", false);
  options.rotary =
      rotary_of(config, config.number("rope_theta", 10000.0), 1.0, head_size_of(options));
  options.norm = Norm::rms_norm;
  options.norm_eps = config.number("rms_norm_eps", 1e-6);
  options.swiglu = true;
  options.num_kv_heads = config.size_if_given("num_key_value_heads");
  options.qk_norm = type == "qwen3";
  const std::optional<Index> window = config.size_if_given("sliding_window");
  if (type == "mistral") options.window = window;
  if (is_qwen) config.require("use_sliding_window", false);
  for (const json& layer : config.at("layer_types"))
    if (layer != "full_attention" && !(type == "mistral" && layer == "sliding_attention"))
      fail<ValueError>("layer_types", "full_attention", layer.dump());
  return options;
}

GptOptions gpt_neox_options(ModelConfig& config, std::string_view) {
  GptOptions options = rotary_options(config);
  options.activation = config.activation("hidden_act", "gelu");
  options.qkv_bias = options.attention_output_bias = config.flag("attention_bias", true);
  options.rotary = rotary_of(config, config.number("rotary_emb_base", 10000.0),
                             config.number("rotary_pct", 0.25), head_size_of(options));
  options.norm_eps = config.number("layer_norm_eps", 1e-5);
  options.parallel_residual = config.flag("use_parallel_residual", true);
  config.require("is_decoder", false);
  return options;
}

// ALiBi, and a norm of the embeddings.
GptOptions bloom_options(ModelConfig& config, std::string_view) {
  config.require("apply_residual_connection_post_layernorm", false);
  return {.vocabulary_size = config.size({"vocab_size"}),
          .max_len = config.size_if_given("seq_length").value_or(2048),
          .num_hiddens = config.size({"hidden_size", "n_embed"}),
          .num_heads = config.size({"n_head", "num_attention_heads"}),
          .num_blocks = config.size({"n_layer"}),
          .ffn_num_hiddens = config.size_if_given("n_inner"),
          .tied = config.flag("tie_word_embeddings", true),
          .alibi = true,
          .embedding_norm = true,
          .norm_eps = config.number("layer_norm_epsilon", 1e-5)};
}

// A model_type, the class that transformers has for it, and what its config.json says.
struct GptForm {
  std::string_view type, architecture;
  GptOptions (*read)(ModelConfig& config, std::string_view type);
};
constexpr GptForm gpt_forms[] = {
    {"gpt2", "GPT2LMHeadModel", gpt2_options},
    {"llama", "LlamaForCausalLM", llama_options},
    {"mistral", "MistralForCausalLM", llama_options},
    {"qwen2", "Qwen2ForCausalLM", llama_options},
    {"qwen3", "Qwen3ForCausalLM", llama_options},
    {"gpt_neox", "GPTNeoXForCausalLM", gpt_neox_options},
    {"bloom", "BloomForCausalLM", bloom_options},
};

const GptForm& gpt_form(std::string_view type) {
  const auto form = std::ranges::find(gpt_forms, type, &GptForm::type);
  if (form != std::end(gpt_forms)) return *form;
  std::string known;
  for (const GptForm& other : gpt_forms)
    known.append(known.empty()                       ? ""
                 : &other == std::end(gpt_forms) - 1 ? " or "
                                                     : ", ")
        .append(other.type);
  fail<ValueError>("model_type", known, concatenate_text('\'', type, '\''));
}

}  // namespace

GptOptions gpt_options(ModelConfig& config) {
  const std::string type = config.text("model_type", "gpt2");
  return gpt_form(type).read(config, type);
}

json config_of(const GptOptions& o, const Sequence& ends) {
  const auto refuse = [](const char* what) {
    fail<ValueError>("save_pretrained_gpt", "a Gpt of the form of Llama, Mistral, Qwen2 or Qwen3",
                     what);
  };
  if (!o.rotary || !o.swiglu || o.norm != Norm::rms_norm) refuse("one of another form");
  if (o.parallel_residual || o.rotary->size || o.rotary->first_position != 0)
    refuse("one with other positions or residuals");
  const bool qkv_bias = o.qkv_bias.value_or(o.bias),
             output_bias = o.attention_output_bias.value_or(o.bias);
  const char* const type = o.qk_norm                  ? "qwen3"
                           : o.window                 ? "mistral"
                           : qkv_bias && !output_bias ? "qwen2"
                                                      : "llama";
  const bool ffn_bias = o.ffn_bias.value_or(o.bias);
  if (std::string_view(type) != "llama" && ffn_bias) refuse("biases of the feed-forward networks");
  if (std::string_view(type) != "qwen2" && qkv_bias != output_bias) refuse("other biases");
  const RotaryOptions& rotary = *o.rotary;
  json rope = {{"rope_theta", rotary.base}, {"rope_type", "default"}};
  if (rotary.factor != 1.0 || rotary.band) {
    rope["rope_type"] = rotary.band ? "llama3" : "linear";
    rope["factor"] = rotary.factor;
  }
  if (rotary.band) {
    rope["low_freq_factor"] = rotary.band->low;
    rope["high_freq_factor"] = rotary.band->high;
    rope["original_max_position_embeddings"] = rotary.band->original_len;
  }
  json scaling = rope;  // for versions of transformers that do not know rope_parameters
  scaling.erase("rope_theta");
  const std::string name = type;
  json config = {{"architectures", {gpt_form(name).architecture}},
                 {"model_type", name},
                 {"vocab_size", o.vocabulary_size},
                 {"max_position_embeddings", o.max_len},
                 {"hidden_size", o.num_hiddens},
                 {"intermediate_size", o.ffn_num_hiddens.value_or(4 * o.num_hiddens)},
                 {"num_hidden_layers", o.num_blocks},
                 {"num_attention_heads", o.num_heads},
                 {"num_key_value_heads", o.num_kv_heads.value_or(o.num_heads)},
                 {"head_dim", o.head_size.value_or(o.num_hiddens / o.num_heads)},
                 {"hidden_act", "silu"},
                 {"rms_norm_eps", o.norm_eps},
                 {"rope_theta", rotary.base},
                 {"rope_parameters", rope},
                 {"tie_word_embeddings", o.tied}};
  if (rope["rope_type"] != "default") config["rope_scaling"] = scaling;
  if (name == "llama" || name == "qwen3") config["attention_bias"] = qkv_bias;
  if (name == "llama") config["mlp_bias"] = ffn_bias;
  if (o.window) config["sliding_window"] = *o.window;
  if (ends.size() == 1)
    config["eos_token_id"] = ends.front();
  else if (!ends.empty())
    config["eos_token_id"] = ends;
  return config;
}

BertOptions bert_options(ModelConfig& config) {
  const std::string type = config.text("model_type", "bert");
  const bool is_roberta = type == "roberta";
  if (!is_roberta && type != "bert")
    fail<ValueError>("model_type", "bert or roberta", concatenate_text('\'', type, '\''));
  config.require("position_embedding_type", "absolute");
  config.require("is_decoder", false);
  config.require("add_cross_attention", false);
  config.at("tie_word_embeddings");  // of a head that a Bert has not
  BertOptions options{.vocabulary_size = config.size({"vocab_size"}),
                      .max_len = config.size({"max_position_embeddings"}),
                      .num_segments = config.size_if_given("type_vocab_size").value_or(2),
                      .num_hiddens = config.size({"hidden_size"}),
                      .num_heads = config.size({"num_attention_heads"}),
                      .num_blocks = config.size({"num_hidden_layers"}),
                      .ffn_num_hiddens = config.size({"intermediate_size"}),
                      .activation = config.activation("hidden_act", "gelu"),
                      .norm_eps = config.number("layer_norm_eps", 1e-12)};
  if (!is_roberta) return options;
  // The vectors before the first position are those of padding.
  options.first_position = config.token("pad_token_id", 1, options.vocabulary_size) + 1;
  if (options.max_len <= options.first_position)
    fail<ValueError>("max_position_embeddings",
                     concatenate_text("more than pad_token_id + 1 = ", options.first_position),
                     options.max_len);
  options.max_len -= options.first_position;
  return options;
}

EncoderDecoderOptions t5_options(ModelConfig& config) {
  const std::string type = config.text("model_type", "t5");
  if (type != "t5") fail<ValueError>("model_type", "t5", concatenate_text('\'', type, '\''));
  config.require("is_encoder_decoder", true);
  config.require("is_decoder", false);
  config.at("n_positions");  // of the training: the model has no limit
  const std::string form = config.text("feed_forward_proj", "relu"), gated = "gated-";
  const bool is_gated = form.starts_with(gated);
  config.require("is_gated_act", is_gated);
  const std::string activation = form == "gated-gelu" ? "gelu_new"
                                 : is_gated           ? form.substr(gated.size())
                                                      : form;
  EncoderDecoderOptions options{
      .source_vocabulary_size = config.size({"vocab_size"}),
      .max_len = std::numeric_limits<std::int32_t>::max(),
      .transformer =
          {.num_blocks = config.size({"num_layers"}),
           .num_hiddens = config.size({"d_model"}),
           .ffn_num_hiddens = config.size({"d_ff"}),
           .num_heads = config.size({"num_heads"}),
           .head_size = config.size({"d_kv"}),
           .norm_first = true,
           .scoring = Scoring::dot_product,
           .swiglu = is_gated,
           .ffn_bias = false,
           .norm = Norm::rms_norm,
           .norm_eps = config.number("layer_norm_epsilon", 1e-6),
           .position_bias =
               RelativePositionBiasOptions{
                   .num_buckets =
                       config.size_if_given("relative_attention_num_buckets").value_or(32),
                   .max_distance =
                       config.size_if_given("relative_attention_max_distance").value_or(128)}},
      .num_decoder_blocks = config.size_if_given("num_decoder_layers"),
      .shared_embedding = true,
      .tied = true,
      .output_bias = false,
      // T5 has it with a tied output layer, and its later versions with another neither.
      .scales_output =
          config.flag("scale_decoder_outputs", config.flag("tie_word_embeddings", true))};
  options.target_vocabulary_size = options.source_vocabulary_size;
  (is_gated ? options.transformer.gate_activation : options.transformer.activation) =
      config.activation("dense_act_fn", activation);
  return options;
}

}  // namespace weft
