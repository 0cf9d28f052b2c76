#include "train/pretrained/internal/model_forms.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "weft/autograd/error.hpp"
#include "train/files/internal/json_entries.hpp"

namespace weft {
namespace {

using nlohmann::json;

// Defaults for entries that rope_parameters may omit.
struct RotaryEntries {
  double part = 1.0;      // the default fraction of a head that is rotated
  bool has_parts = true;  // whether this architecture can rotate a part of a head in transformers
  Index max_len = 0;      // the default original_max_position_embeddings
};

// Throws ValueError for unknown entries of rope_parameters, such as a layer type with its own
// parameters. Entries for a different rope_type are accepted, because transformers ignores them.
void check_rotary_entries(const json& rope) {
  if (!rope.is_null() && !rope.is_object())
    fail<ValueError>("rope_parameters", "an object", shown(rope));
  constexpr std::string_view known =
      " attention_factor beta_fast beta_slow factor high_freq_factor long_factor low_freq_factor "
      "mscale mscale_all_dim original_max_position_embeddings partial_rotary_factor rope_theta "
      "rope_type short_factor truncate type ";
  for (const auto& [name, value] : rope.items())
    if (known.find(' ' + name + ' ') == known.npos)
      fail<ValueError>("rope_parameters", "only known entries", str_cat(name, ": ", shown(value)));
}

// Reads rotary positions as transformers does. A non-empty "rope_scaling" replaces
// "rope_parameters" entirely. Its entries take precedence over those of the configuration itself,
// which `options.base` and `entries.part` contain.
void read_rotary(ModelConfig& config, RotaryOptions& options, RotaryEntries entries,
                 Index head_size) {
  const json &older = config.at("rope_scaling"), &newer = config.at("rope_parameters");
  const json& rope = older.empty() ? newer : older;
  check_rotary_entries(rope);
  const auto number = [&](const char* name, double& value) {
    if (rope.contains(name)) value = required_entry<double>(rope, name);
  };
  number("rope_theta", options.base);
  number("partial_rotary_factor", entries.part);
  const char* type_entry = rope.contains("rope_type") ? "rope_type" : "type";
  const auto type = entry_or<std::string>(rope, type_entry, "default");
  if (type != "default" && type != "linear" && type != "llama3")
    fail<ValueError>("rope_scaling", "default, linear or llama3", str_cat('\'', type, '\''));
  // Without scaling, most models in transformers ignore partial_rotary_factor.
  if (type == "default" && !entries.has_parts) entries.part = 1.0;
  if (!entries.has_parts && entries.part != 1.0)
    fail<ValueError>("partial_rotary_factor", "1 with this model and rope_type", entries.part);
  if (entries.part != 1.0)
    options.size = static_cast<Index>(static_cast<double>(head_size) * entries.part);
  if (type == "default") return;
  options.factor = required_entry<double>(rope, "factor");
  if (type == "linear") return;
  config.size("original_max_position_embeddings", entries.max_len,
              entry_or(rope, "original_max_position_embeddings", entries.max_len));
  options.band = {.low = required_entry<double>(rope, "low_freq_factor"),
                  .high = required_entry<double>(rope, "high_freq_factor"),
                  .original_len = entries.max_len};
}

void write_rotary(ModelConfig& config, const RotaryOptions& options, double part) {
  const bool is_default = options.factor == 1.0 && !options.band;
  json rope = {{"rope_type", options.band ? "llama3" : is_default ? "default" : "linear"}};
  if (!is_default) rope["factor"] = options.factor;
  if (options.band) {
    rope["low_freq_factor"] = options.band->low;
    rope["high_freq_factor"] = options.band->high;
    rope["original_max_position_embeddings"] = options.band->original_len;
  }
  rope["rope_theta"] = options.base;
  if (part != 1.0) rope["partial_rotary_factor"] = part;
  // For versions of transformers that do not support rope_parameters.
  if (!is_default) config.set("rope_scaling", rope);
  config.set("rope_parameters", rope);
}

void rotary_form(ModelConfig& config, RotaryOptions& options, const RotaryEntries& entries,
                 Index head_size) {
  if (config.is_written()) return write_rotary(config, options, entries.part);
  read_rotary(config, options, entries, head_size);
  // read_rotary has read it if it has an effect.
  config.ignore({"original_max_position_embeddings"});
}

void gpt2_form(ModelConfig& config, GptOptions& o, std::string_view) {
  config.rename("hidden_size", "n_embd");
  config.rename("max_position_embeddings", "n_positions");
  config.rename("num_attention_heads", "n_head");
  config.rename("num_hidden_layers", "n_layer");
  // Names in files without n_positions.
  for (const char* const older : {"n_ctx", "block_size"})
    if (config.has(older) && !config.has("n_positions")) config.rename(older, "n_positions");
  config.require("scale_attn_weights", true);
  config.require("scale_attn_by_inverse_layer_idx", false);
  config.require("add_cross_attention", false);
  config.size("vocab_size", o.vocabulary_size);
  config.size("n_positions", o.max_len);
  config.size("n_embd", o.num_hiddens);
  config.size("n_head", o.num_heads);
  config.size("n_layer", o.num_blocks);
  config.optional_size("n_inner", o.ffn_num_hiddens);
  config.flag("bias", o.bias, true);
  config.flag("tie_word_embeddings", o.tied, true);
  config.activation("activation_function", o.activation, "gelu_new");
  config.number("layer_norm_epsilon", o.norm_eps, 1e-5);
  config.ignore({"is_decoder", "n_ctx", "n_special", "predict_special_tokens",
                 "reorder_and_upcast_attn", "summary_activation", "summary_first_dropout",
                 "summary_proj_to_labels", "summary_type", "summary_use_proj"});
}

Index head_size_of(const GptOptions& o) {
  return o.head_size.value_or(o.num_hiddens / o.num_heads);
}

// Reads or writes the entries that all models with rotary positions have.
void sizes_form(ModelConfig& config, GptOptions& o, Index max_len) {
  Index ffn_size = o.ffn_num_hiddens.value_or(0);
  config.size("vocab_size", o.vocabulary_size);
  config.size("max_position_embeddings", o.max_len, max_len);
  config.size("hidden_size", o.num_hiddens);
  config.size("num_attention_heads", o.num_heads);
  config.size("num_hidden_layers", o.num_blocks);
  config.size("intermediate_size", ffn_size);
  config.flag("tie_word_embeddings", o.tied, false);
  config.ignore({"is_decoder"});
  o.ffn_num_hiddens = ffn_size;
  if (!o.rotary) o.rotary.emplace();
}

// Reads or writes the attention window of Mistral, Qwen2 and Qwen3. Either all layers must have the
// window, or none. If there is an entry layer_types, transformers reads Mistral as Ministral, whose
// windows layer_types determines.
void window_form(ModelConfig& config, GptOptions& o, bool is_mistral) {
  std::optional<Index> window = o.window;
  bool is_used = is_mistral || window.has_value();
  Index first = 0;
  if (!is_mistral) config.flag("use_sliding_window", is_used, false);
  if (config.is_written() && is_mistral && !window) config.set("sliding_window", nullptr);
  config.optional_size("sliding_window", window, 4096);
  if (!is_mistral) config.size("max_window_layers", first, 28, 0);
  o.window = is_used ? window : std::nullopt;
  if (config.is_written()) return;
  const json& types = config.at("layer_types");
  Index windows = o.window ? std::max(Index{0}, o.num_blocks - first) : 0;
  if (!types.is_null()) {
    if (!types.is_array() || std::ssize(types) != o.num_blocks)
      fail<ValueError>("layer_types", str_cat("a list of ", o.num_blocks, " types"), shown(types));
    windows = std::ranges::count(types, json("sliding_attention"));
    if (windows + std::ranges::count(types, json("full_attention")) != o.num_blocks)
      fail<ValueError>("layer_types", "full_attention or sliding_attention", shown(types));
  }
  if (windows != 0 && (windows != o.num_blocks || !o.window))
    fail<ValueError>("sliding_window", "a window in all layers or in no layer",
                     str_cat("a window in ", windows, " of ", o.num_blocks, " layers"));
  if (windows == 0) o.window.reset();
}

// Reads or writes Llama, Mistral, Qwen2 and Qwen3.
void llama_form(ModelConfig& config, GptOptions& o, std::string_view type) {
  const bool is_llama = type == "llama", is_mistral = type == "mistral", is_qwen3 = type == "qwen3";
  sizes_form(config, o, is_llama ? 2048 : is_mistral ? 131072 : 32768);
  Activation activation = Activation::silu;
  config.activation("hidden_act", activation, "silu");
  if (activation != Activation::silu)
    fail<ValueError>("hidden_act", "silu", shown(config.at("hidden_act")));
  config.require("rope_interleaved", false);
  bool attention_bias = o.attention_output_bias.value_or(false),
       ffn_bias = o.ffn_bias.value_or(false);
  if (is_llama || is_qwen3) config.flag("attention_bias", attention_bias, false);
  if (is_llama) config.flag("mlp_bias", ffn_bias, false);
  // Files of the other types may contain these entries, but transformers ignores them.
  config.ignore({"attention_bias", "mlp_bias", "is_llama_config", "pretraining_tp",
                 "use_sliding_window", "max_sequence_length", "max_window_layers"});
  o.bias = false;
  o.qkv_bias = type == "qwen2" || attention_bias;
  o.attention_output_bias = attention_bias;
  o.ffn_bias = ffn_bias;
  if (is_qwen3 && config.contains("head_dim") && !config.has("head_dim"))
    fail<ValueError>("head_dim", "a size", "null");
  config.optional_size("head_dim", o.head_size,
                       is_qwen3 ? std::optional<Index>(128) : std::nullopt);
  config.number("rope_theta", o.rotary->base, 10000.0);
  config.ignore({"partial_rotary_factor"});
  const double part = entry_or(config.entries(), "partial_rotary_factor", 1.0);
  rotary_form(config, *o.rotary, {.part = part, .has_parts = false, .max_len = o.max_len},
              head_size_of(o));
  config.number("rms_norm_eps", o.norm_eps, 1e-6);
  const std::optional<Index> kv_heads = is_llama ? o.num_heads : is_mistral ? 8 : 32;
  config.optional_size("num_key_value_heads", o.num_kv_heads, kv_heads);
  o.norm = Norm::rms_norm;
  o.swiglu = true;
  o.qk_norm = is_qwen3;
  if (!is_llama) return window_form(config, o, is_mistral);
  // transformers' Llama ignores windows.
  config.ignore({"sliding_window", "use_sliding_window"});
  for (const json& layer : config.at("layer_types"))
    if (layer != "full_attention") fail<ValueError>("layer_types", "full_attention", shown(layer));
}

void gpt_neox_form(ModelConfig& config, GptOptions& o, std::string_view) {
  sizes_form(config, o, 2048);
  bool attention_bias = o.attention_output_bias.value_or(true);
  double part = 1.0;
  if (const auto rotated = o.rotary->size)
    part = static_cast<double>(*rotated) / static_cast<double>(head_size_of(o));
  config.activation("hidden_act", o.activation, "gelu");
  config.flag("attention_bias", attention_bias, true);
  config.number("rotary_emb_base", o.rotary->base, 10000.0);
  config.number("rotary_pct", part, 0.25);
  // Llama's names for the same entries.
  config.ignore({"rope_theta", "partial_rotary_factor"});
  rotary_form(config, *o.rotary, {.part = part, .max_len = o.max_len}, head_size_of(o));
  config.number("layer_norm_eps", o.norm_eps, 1e-5);
  config.flag("use_parallel_residual", o.parallel_residual, true);
  o.qkv_bias = o.attention_output_bias = attention_bias;
}

// Reads or writes BLOOM, which uses ALiBi and normalizes the embeddings.
void bloom_form(ModelConfig& config, GptOptions& o, std::string_view) {
  config.rename("num_hidden_layers", "n_layer");
  config.rename("num_attention_heads", "n_head");
  if (config.has("n_embed")) config.rename("n_embed", "hidden_size");
  bool is_sliced = false;
  std::optional<Index> slices = 1;
  config.flag("slow_but_exact", is_sliced, false);
  config.optional_size("pretraining_tp", slices, 1);
  // With this combination, transformers omits biases.
  if (is_sliced && slices.value_or(1) > 1)
    fail<ValueError>("slow_but_exact", "false with a pretraining_tp above 1", "true");
  config.require("apply_residual_connection_post_layernorm", false);
  config.size("vocab_size", o.vocabulary_size);
  config.size("seq_length", o.max_len, 2048);
  config.size("hidden_size", o.num_hiddens);
  config.size("n_head", o.num_heads);
  config.size("n_layer", o.num_blocks);
  // transformers supports only four times the hidden size.
  if (!config.is_written()) config.optional_size("n_inner", o.ffn_num_hiddens);
  config.flag("tie_word_embeddings", o.tied, true);
  config.number("layer_norm_epsilon", o.norm_eps, 1e-5);
  config.ignore({"attention_softmax_in_fp32", "bias_dropout_fusion", "is_decoder",
                 "masked_softmax_fusion", "n_embed", "offset_alibi", "skip_bias_add",
                 "skip_bias_add_qkv"});
  o.alibi = o.embedding_norm = true;
}

// A supported architecture: its model_type, its class in transformers, the layout of its weights,
// its default eos_token_id (-1 if none), and the function that reads or writes its config.json.
struct GptForm {
  std::string_view type, architecture;
  Layout layout;
  TokenId end;
  void (*form)(ModelConfig& config, GptOptions& options, std::string_view type);
};
constexpr GptForm gpt_forms[] = {
    {"gpt2", "GPT2LMHeadModel", Layout::gpt2, 50256, gpt2_form},
    {"llama", "LlamaForCausalLM", Layout::llama, 2, llama_form},
    {"mistral", "MistralForCausalLM", Layout::llama, 2, llama_form},
    {"qwen2", "Qwen2ForCausalLM", Layout::llama, -1, llama_form},
    {"qwen3", "Qwen3ForCausalLM", Layout::llama, -1, llama_form},
    {"gpt_neox", "GPTNeoXForCausalLM", Layout::gpt_neox, 2, gpt_neox_form},
    {"bloom", "BloomForCausalLM", Layout::bloom, 2, bloom_form},
};

// Returns "gpt2, llama, … or bloom".
std::string gpt_types() {
  std::string types;
  for (const GptForm& form : gpt_forms)
    types.append(types.empty()                      ? ""
                 : &form == std::end(gpt_forms) - 1 ? " or "
                                                    : ", ")
        .append(form.type);
  return types;
}

// Returns the architecture that model_type names.
const GptForm& gpt_form(ModelConfig& config) {
  std::string type;
  config.text("model_type", type, "gpt2");
  const auto form = std::ranges::find(gpt_forms, std::string_view(type), &GptForm::type);
  if (form == std::end(gpt_forms))
    fail<ValueError>("model_type", gpt_types(), str_cat('\'', type, '\''));
  return *form;
}

// Returns the options with defaults resolved and options without effect on results reset, so that
// equal models have equal options.
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
    // The model sets these itself.
    t.position_bias->num_heads = 1;
    t.position_bias->bidirectional = true;
  }
  o.num_decoder_blocks = o.num_decoder_blocks.value_or(t.num_blocks);
  o.max_len = std::numeric_limits<std::int32_t>::max();
  o.output_bias = o.output_bias && !o.tied;
  // In this case, `tied` depends on the weights, not on the configuration.
  if (!o.scales_output) o.tied = true;
  return o;
}

void t5_form(ModelConfig& config, EncoderDecoderOptions& o) {
  TransformerOptions& t = o.transformer;
  const std::string gated = "gated-", entry = "feed_forward_proj";
  config.require("is_encoder_decoder", true);
  config.require("is_decoder", false);
  config.ignore({"n_positions"});  // the length used in training; the model has no limit
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
  config.size("vocab_size", o.source_vocabulary_size);
  config.size("num_layers", t.num_blocks);
  config.optional_size("num_decoder_layers", o.num_decoder_blocks);
  config.size("d_model", t.num_hiddens);
  config.size("d_ff", t.ffn_num_hiddens);
  config.size("num_heads", t.num_heads);
  config.size("d_kv", head_size);
  config.number("layer_norm_epsilon", t.norm_eps, 1e-6);
  if (!t.position_bias) t.position_bias.emplace();
  config.size("relative_attention_num_buckets", t.position_bias->num_buckets, 32);
  config.size("relative_attention_max_distance", t.position_bias->max_distance, 128);
  // T5 scales the outputs and ties the output layer; its later versions do neither.
  bool tied = o.scales_output;
  if (config.is_written() || config.has("tie_word_embeddings"))
    config.flag("tie_word_embeddings", tied, true);
  else
    tied = true;  // even if it is null
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
    fail<ValueError>("model_type", "bert or roberta", str_cat('\'', type, '\''));
  config.require("position_embedding_type", "absolute");
  config.require("is_decoder", false);
  config.require("add_cross_attention", false);
  // Entries for heads, which a Bert does not have, and entries of programs that wrote the files.
  config.ignore({"cell", "directionality", "emb_size", "pooler_fc_size",
                 "pooler_num_attention_heads", "pooler_num_fc_layers", "pooler_size_per_head",
                 "pooler_type", "pre_trained", "sbert_ce_default_activation_function", "structure",
                 "tie_word_embeddings", "training"});
  Index positions = o.max_len + o.first_position, ffn_size = o.ffn_num_hiddens.value_or(0);
  config.size("vocab_size", o.vocabulary_size);
  config.size("max_position_embeddings", positions, 512);
  config.size("type_vocab_size", o.num_segments, 2);
  config.size("hidden_size", o.num_hiddens);
  config.size("num_attention_heads", o.num_heads);
  config.size("num_hidden_layers", o.num_blocks);
  config.size("intermediate_size", ffn_size);
  config.activation("hidden_act", o.activation, "gelu");
  config.number("layer_norm_eps", o.norm_eps, 1e-12);
  o.ffn_num_hiddens = ffn_size;
  if (type == "roberta") {
    // The vectors before the first position belong to padding.
    TokenId padding = static_cast<TokenId>(o.first_position - 1);
    if (config.contains("pad_token_id") && !config.has("pad_token_id"))
      fail<ValueError>("pad_token_id", "a token", "null");
    config.token("pad_token_id", padding, 1, o.vocabulary_size);
    o.first_position = padding + 1;
    if (positions <= o.first_position)
      fail<ValueError>("max_position_embeddings",
                       str_cat("more than pad_token_id + 1 = ", o.first_position), positions);
  }
  o.max_len = positions - o.first_position;
}

}  // namespace

GptOptions gpt_options(ModelConfig& config) {
  const GptForm& form = gpt_form(config);
  GptOptions options;
  form.form(config, options, form.type);
  if (options.head_size == options.num_hiddens / options.num_heads) options.head_size.reset();
  return options;
}

nlohmann::json default_end(ModelConfig& config) {
  const TokenId end = gpt_form(config).end;
  return end < 0 ? json() : json(static_cast<std::uint32_t>(end));
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
  fail<ValueError>("save_pretrained", "a Gpt with the architecture of " + gpt_types(),
                   "a different architecture");
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
  if (type != "t5") fail<ValueError>("model_type", "t5", str_cat('\'', type, '\''));
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
    fail<ValueError>("save_pretrained", "a model with the architecture of t5",
                     "a different architecture");
}

}  // namespace weft
