#include "train/weights/internal/model_forms.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "weft/autograd/error.hpp"
#include "train/tokenizers/internal/json_entries.hpp"

namespace weft {
namespace {

using nlohmann::json;

// "rope_parameters", or the entries of older files, whose base is in `options` already. `part` is
// the share of a head that is rotated.
void rotary_form(ModelConfig& config, RotaryOptions& options, double part, Index head_size) {
  if (config.is_written()) {
    const bool is_default = options.factor == 1.0 && !options.band;
    json rope = {{"rope_type", options.band ? "llama3" : is_default ? "default" : "linear"}};
    if (!is_default) rope["factor"] = options.factor;
    if (options.band) {
      rope["low_freq_factor"] = options.band->low;
      rope["high_freq_factor"] = options.band->high;
      rope["original_max_position_embeddings"] = options.band->original_len;
    }
    // For versions of transformers that do not know rope_parameters.
    if (!is_default) config.set("rope_scaling", rope);
    rope["rope_theta"] = options.base;
    if (part != 1.0) rope["partial_rotary_factor"] = part;
    return config.set("rope_parameters", rope);
  }
  const json &parameters = config.at("rope_parameters"), &older = config.at("rope_scaling");
  const json& scaling = parameters.is_null() ? older : parameters;
  options.base = entry_or(parameters, "rope_theta", options.base);
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
}

void gpt2_form(ModelConfig& config, GptOptions& o, std::string_view) {
  config.require("scale_attn_weights", true);
  config.require("scale_attn_by_inverse_layer_idx", false);
  config.require("add_cross_attention", false);
  config.size({"vocab_size"}, o.vocabulary_size);
  config.size({"n_positions", "n_ctx", "block_size"}, o.max_len);
  config.size({"n_embd"}, o.num_hiddens);
  config.size({"n_head"}, o.num_heads);
  config.size({"n_layer"}, o.num_blocks);
  config.size("n_inner", o.ffn_num_hiddens);
  config.flag("bias", o.bias, true);
  config.flag("tie_word_embeddings", o.tied, true);
  config.activation("activation_function", o.activation, "gelu_new");
  config.number("layer_norm_epsilon", o.norm_eps, 1e-5);
}

Index head_size_of(const GptOptions& o) {
  return o.head_size.value_or(o.num_hiddens / o.num_heads);
}

// What all models with rotary positions have.
void sizes_form(ModelConfig& config, GptOptions& o) {
  Index ffn_size = o.ffn_num_hiddens.value_or(0);
  config.size({"vocab_size"}, o.vocabulary_size);
  config.size({"max_position_embeddings"}, o.max_len);
  config.size({"hidden_size"}, o.num_hiddens);
  config.size({"num_attention_heads"}, o.num_heads);
  config.size({"num_hidden_layers"}, o.num_blocks);
  config.size({"intermediate_size"}, ffn_size);
  config.flag("tie_word_embeddings", o.tied, false);
  o.ffn_num_hiddens = ffn_size;
  if (!o.rotary) o.rotary.emplace();
}

// Llama, Mistral, Qwen2 and Qwen3.
void llama_form(ModelConfig& config, GptOptions& o, std::string_view type) {
  sizes_form(config, o);
  config.require("hidden_act", "silu");
  config.require("rope_interleaved", false);
  bool attention_bias = o.attention_output_bias.value_or(false),
       ffn_bias = o.ffn_bias.value_or(false);
  if (type == "llama" || type == "qwen3") config.flag("attention_bias", attention_bias, false);
  if (type == "llama") config.flag("mlp_bias", ffn_bias, false);
  // Of the others, which have no such entries, files may have them.
  config.at("attention_bias");
  config.at("mlp_bias");
  o.bias = false;
  o.qkv_bias = type == "qwen2" || attention_bias;
  o.attention_output_bias = attention_bias;
  o.ffn_bias = ffn_bias;
  config.size("head_dim", o.head_size);
  config.number("rope_theta", o.rotary->base, 10000.0);
  rotary_form(config, *o.rotary, 1.0, head_size_of(o));
  config.number("rms_norm_eps", o.norm_eps, 1e-6);
  config.size("num_key_value_heads", o.num_kv_heads);
  o.norm = Norm::rms_norm;
  o.swiglu = true;
  o.qk_norm = type == "qwen3";
  // Of the others, an entry has no effect.
  std::optional<Index> window = type == "mistral" ? o.window : std::nullopt;
  config.size("sliding_window", window);
  if (type == "mistral") o.window = window;
  if (type.starts_with("qwen")) config.require("use_sliding_window", false);
  for (const json& layer : config.at("layer_types"))
    if (layer != "full_attention" && !(type == "mistral" && layer == "sliding_attention"))
      fail<ValueError>("layer_types", "full_attention", layer.dump());
}

void gpt_neox_form(ModelConfig& config, GptOptions& o, std::string_view) {
  sizes_form(config, o);
  bool attention_bias = o.attention_output_bias.value_or(true);
  double part = 1.0;
  if (const auto rotated = o.rotary->size)
    part = static_cast<double>(*rotated) / static_cast<double>(head_size_of(o));
  config.activation("hidden_act", o.activation, "gelu");
  config.flag("attention_bias", attention_bias, true);
  config.number("rotary_emb_base", o.rotary->base, 10000.0);
  config.number("rotary_pct", part, 0.25);
  rotary_form(config, *o.rotary, part, head_size_of(o));
  config.number("layer_norm_eps", o.norm_eps, 1e-5);
  config.flag("use_parallel_residual", o.parallel_residual, true);
  config.require("is_decoder", false);
  o.qkv_bias = o.attention_output_bias = attention_bias;
}

// ALiBi, and a norm of the embeddings.
void bloom_form(ModelConfig& config, GptOptions& o, std::string_view) {
  config.require("apply_residual_connection_post_layernorm", false);
  config.size({"vocab_size"}, o.vocabulary_size);
  config.size({"seq_length"}, o.max_len, 2048);
  config.size({"hidden_size", "n_embed"}, o.num_hiddens);
  config.size({"n_head", "num_attention_heads"}, o.num_heads);
  config.size({"n_layer"}, o.num_blocks);
  // transformers has only four times the hidden size.
  if (!config.is_written()) config.size("n_inner", o.ffn_num_hiddens);
  config.flag("tie_word_embeddings", o.tied, true);
  config.number("layer_norm_epsilon", o.norm_eps, 1e-5);
  o.alibi = o.embedding_norm = true;
}

// A model_type, the class that transformers has for it, the names of its weights, and its
// config.json.
struct GptForm {
  std::string_view type, architecture;
  Layout layout;
  void (*form)(ModelConfig& config, GptOptions& options, std::string_view type);
};
constexpr GptForm gpt_forms[] = {
    {"gpt2", "GPT2LMHeadModel", Layout::gpt2, gpt2_form},
    {"llama", "LlamaForCausalLM", Layout::llama, llama_form},
    {"mistral", "MistralForCausalLM", Layout::llama, llama_form},
    {"qwen2", "Qwen2ForCausalLM", Layout::llama, llama_form},
    {"qwen3", "Qwen3ForCausalLM", Layout::llama, llama_form},
    {"gpt_neox", "GPTNeoXForCausalLM", Layout::gpt_neox, gpt_neox_form},
    {"bloom", "BloomForCausalLM", Layout::bloom, bloom_form},
};

// "gpt2, llama, … or bloom".
std::string gpt_types() {
  std::string types;
  for (const GptForm& form : gpt_forms)
    types.append(types.empty()                      ? ""
                 : &form == std::end(gpt_forms) - 1 ? " or "
                                                    : ", ")
        .append(form.type);
  return types;
}

// The options that change a result, with those that are not given: equal for equal models.
GptOptions resolved(GptOptions o) {
  const GptOptions defaults;
  o.dropout = defaults.dropout;
  o.recompute = defaults.recompute;
  o.head_size = head_size_of(o);
  o.num_kv_heads = o.num_kv_heads.value_or(o.num_heads);
  o.ffn_num_hiddens = o.ffn_num_hiddens.value_or(4 * o.num_hiddens);
  o.qkv_bias = o.qkv_bias.value_or(o.bias);
  o.attention_output_bias = o.attention_output_bias.value_or(o.bias);
  o.ffn_bias = o.ffn_bias.value_or(o.bias);
  if (o.norm == Norm::rms_norm) o.bias = false;
  if (o.swiglu) o.activation = defaults.activation;
  if (o.rotary && o.rotary->size == o.head_size) o.rotary->size.reset();
  return o;
}

EncoderDecoderOptions resolved(EncoderDecoderOptions o) {
  TransformerOptions& t = o.transformer;
  const TransformerOptions defaults;
  t.dropout = defaults.dropout;
  t.recompute = defaults.recompute;
  t.norm_bias = defaults.norm_bias;
  (t.swiglu ? t.activation : t.gate_activation) = Activation::none;
  t.head_size = t.head_size.value_or(t.num_hiddens / t.num_heads);
  t.num_kv_heads = t.num_kv_heads.value_or(t.num_heads);
  t.attention_output_bias = t.attention_output_bias.value_or(t.attention_bias);
  t.final_norm = t.final_norm.value_or(t.norm_first);
  if (t.position_bias) {
    // Those that the model sets.
    t.position_bias->num_heads = 1;
    t.position_bias->bidirectional = true;
  }
  o.num_decoder_blocks = o.num_decoder_blocks.value_or(t.num_blocks);
  o.max_len = std::numeric_limits<std::int32_t>::max();
  o.output_bias = o.output_bias && !o.tied;
  // The weights decide.
  if (!o.scales_output) o.tied = true;
  return o;
}

void t5_form(ModelConfig& config, EncoderDecoderOptions& o) {
  TransformerOptions& t = o.transformer;
  const std::string gated = "gated-", entry = "feed_forward_proj";
  config.require("is_encoder_decoder", true);
  config.require("is_decoder", false);
  config.at("n_positions");  // of the training: the model has no limit
  std::string form = !config.is_written() ? ""
                     : t.swiglu ? gated + config.name_of_activation(entry, t.gate_activation)
                                : config.name_of_activation(entry, t.activation);
  if (form == "gated-gelu_new") form = "gated-gelu";
  config.text(entry, form, "relu");
  t.swiglu = form.starts_with(gated);
  config.require("is_gated_act", t.swiglu);
  if (!config.is_written())
    config.activation("dense_act_fn", t.swiglu ? t.gate_activation : t.activation,
                      form == "gated-gelu" ? "gelu_new"
                      : t.swiglu           ? form.substr(gated.size())
                                           : form);
  Index head_size = t.head_size.value_or(0);
  config.size({"vocab_size"}, o.source_vocabulary_size);
  config.size({"num_layers"}, t.num_blocks);
  config.size("num_decoder_layers", o.num_decoder_blocks);
  config.size({"d_model"}, t.num_hiddens);
  config.size({"d_ff"}, t.ffn_num_hiddens);
  config.size({"num_heads"}, t.num_heads);
  config.size({"d_kv"}, head_size);
  config.number("layer_norm_epsilon", t.norm_eps, 1e-6);
  if (!t.position_bias) t.position_bias.emplace();
  config.size({"relative_attention_num_buckets"}, t.position_bias->num_buckets, 32);
  config.size({"relative_attention_max_distance"}, t.position_bias->max_distance, 128);
  // T5 has it with a tied output layer, and its later versions with another neither.
  bool tied = o.scales_output;
  config.flag("tie_word_embeddings", tied, true);
  config.flag("scale_decoder_outputs", o.scales_output, tied);
  t.head_size = head_size;
  t.norm_first = true;
  t.scoring = Scoring::dot_product;
  t.ffn_bias = false;
  t.norm = Norm::rms_norm;
  o.max_len = std::numeric_limits<std::int32_t>::max();
  o.target_vocabulary_size = o.source_vocabulary_size;
  o.shared_embedding = o.tied = true;
  o.output_bias = false;
}

bool is_roberta(const BertOptions& o) { return o.first_position > 0; }

void bert_form(ModelConfig& config, BertOptions& o) {
  std::string type = is_roberta(o) ? "roberta" : "bert";
  config.text("model_type", type, "bert");
  if (type != "roberta" && type != "bert")
    fail<ValueError>("model_type", "bert or roberta", concatenate_text('\'', type, '\''));
  config.require("position_embedding_type", "absolute");
  config.require("is_decoder", false);
  config.require("add_cross_attention", false);
  config.at("tie_word_embeddings");  // of a head that a Bert has not
  Index positions = o.max_len + o.first_position, ffn_size = o.ffn_num_hiddens.value_or(0);
  config.size({"vocab_size"}, o.vocabulary_size);
  config.size({"max_position_embeddings"}, positions);
  config.size({"type_vocab_size"}, o.num_segments, 2);
  config.size({"hidden_size"}, o.num_hiddens);
  config.size({"num_attention_heads"}, o.num_heads);
  config.size({"num_hidden_layers"}, o.num_blocks);
  config.size({"intermediate_size"}, ffn_size);
  config.activation("hidden_act", o.activation, "gelu");
  config.number("layer_norm_eps", o.norm_eps, 1e-12);
  o.ffn_num_hiddens = ffn_size;
  if (type == "roberta") {
    // The vectors before the first position are those of padding.
    TokenId padding = static_cast<TokenId>(o.first_position - 1);
    config.token("pad_token_id", padding, 1, o.vocabulary_size);
    o.first_position = padding + 1;
    if (positions <= o.first_position)
      fail<ValueError>("max_position_embeddings",
                       concatenate_text("more than pad_token_id + 1 = ", o.first_position),
                       positions);
  }
  o.max_len = positions - o.first_position;
}

}  // namespace

GptOptions gpt_options(ModelConfig& config) {
  std::string type;
  config.text("model_type", type, "gpt2");
  const auto form = std::ranges::find(gpt_forms, std::string_view(type), &GptForm::type);
  if (form == std::end(gpt_forms))
    fail<ValueError>("model_type", gpt_types(), concatenate_text('\'', type, '\''));
  GptOptions options;
  form->form(config, options, type);
  if (options.head_size == options.num_hiddens / options.num_heads) options.head_size.reset();
  return options;
}

Layout write_config(ModelConfig& config, const GptOptions& options) {
  const GptOptions wanted = resolved(options);
  for (const GptForm& form : gpt_forms) {
    config = ModelConfig();
    GptOptions written = wanted;
    form.form(config, written, form.type);
    config.set("model_type", form.type);
    config.set("architectures", json::array({form.architecture}));
    ModelConfig again(config.entries());
    if (resolved(gpt_options(again)) == wanted) return form.layout;
  }
  fail<ValueError>("save_pretrained_gpt", "a Gpt of the form of " + gpt_types(), "another one");
}

BertOptions bert_options(ModelConfig& config) {
  BertOptions options;
  bert_form(config, options);
  return options;
}

void write_config(ModelConfig& config, const BertOptions& options) {
  BertOptions written = options;
  written.ffn_num_hiddens = options.ffn_num_hiddens.value_or(4 * options.num_hiddens);
  bert_form(config, written);
  config.set("architectures", json::array({is_roberta(options) ? "RobertaModel" : "BertModel"}));
}

EncoderDecoderOptions t5_options(ModelConfig& config) {
  std::string type;
  config.text("model_type", type, "t5");
  if (type != "t5") fail<ValueError>("model_type", "t5", concatenate_text('\'', type, '\''));
  EncoderDecoderOptions options;
  t5_form(config, options);
  return options;
}

void write_config(ModelConfig& config, const EncoderDecoderOptions& options) {
  const EncoderDecoderOptions wanted = resolved(options);
  EncoderDecoderOptions written = wanted;
  t5_form(config, written);
  config.set("model_type", "t5");
  config.set("architectures", json::array({"T5ForConditionalGeneration"}));
  ModelConfig again(config.entries());
  if (resolved(t5_options(again)) != wanted)
    fail<ValueError>("save_pretrained_encoder_decoder", "a model of the form of t5", "another one");
}

}  // namespace weft
