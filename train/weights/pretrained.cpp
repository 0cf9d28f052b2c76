#include "weft/train/weights/pretrained.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/data/characters.hpp"
#include "weft/train/weights/safetensors_file.hpp"
#include "train/files/atomic_file.hpp"
#include "train/files/file_descriptor.hpp"
#include "train/tokenizers/internal/json_entries.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Entries that do not change what a model computes, or only while it trains.
constexpr std::string_view without_effect[] = {"architectures",
                                               "auto_map",
                                               "dtype",
                                               "id2label",
                                               "initializer_range",
                                               "is_llama_config",
                                               "label2id",
                                               "max_window_layers",
                                               "model_type",
                                               "n_ctx",
                                               "output_past",
                                               "pretraining_tp",
                                               "quantization_config",
                                               "reorder_and_upcast_attn",
                                               "summary_activation",
                                               "summary_first_dropout",
                                               "summary_proj_to_labels",
                                               "summary_type",
                                               "summary_use_proj",
                                               "task_specific_params",
                                               "tokenizer_class",
                                               "torch_dtype",
                                               "transformers.js_config",
                                               "transformers_version",
                                               "use_cache"};

// The entries of a config.json, all of which have to be read.
class Config {
 public:
  explicit Config(json entries) : entries_(std::move(entries)) {
    if (!entries_.is_object()) fail<ValueError>("configuration", "an object", entries_.type_name());
  }

  const json& at(const std::string& name) {
    read_.insert(name);
    return entry(entries_, name);
  }
  bool has(const std::string& name) { return !at(name).is_null(); }

  // Of several names, the first that is there.
  Index size(const std::vector<std::string>& names) {
    for (const std::string& name : names)
      if (has(name)) return checked_size(name);
    fail<ValueError>(names.front(), "an entry", "none");
  }
  std::optional<Index> size_if_given(const std::string& name) {
    return has(name) ? std::optional(checked_size(name)) : std::nullopt;
  }
  double number(const std::string& name, double otherwise) {
    at(name);
    return entry_or(entries_, name, otherwise);
  }
  bool flag(const std::string& name, bool otherwise) {
    at(name);
    return entry_or(entries_, name, otherwise);
  }
  std::string text(const std::string& name, const std::string& otherwise) {
    at(name);
    return entry_or(entries_, name, otherwise);
  }
  // Throws unless the entry is this, if there is one.
  void require(const std::string& name, const json& value) {
    if (has(name) && at(name) != value)
      fail<ValueError>(name, value.dump(), at(name).dump().substr(0, 80));
  }

  // Throws for an entry that nobody read.
  void check_all_read() const {
    for (const auto& [name, value] : entries_.items()) {
      const bool is_known = read_.contains(name) || name.starts_with('_') ||
                            name.ends_with("_token_id") || name.ends_with("_dropout") ||
                            name.ends_with("_pdrop") ||
                            std::ranges::find(without_effect, name) != std::end(without_effect);
      if (!is_known && !value.is_null())
        fail<ValueError>(
            name, "an entry that is known",
            concatenate_text(value.dump().substr(0, 80),
                             " (without it, if it changes nothing, the file is read)"));
    }
  }

 private:
  Index checked_size(const std::string& name) {
    const auto value = entry_or<std::int64_t>(entries_, name, 0);
    constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
    if (value < 1 || value > highest)
      fail<ValueError>(name, concatenate_text("an integer of 1 … ", highest), value);
    return value;
  }

  json entries_;
  std::set<std::string> read_;
};

Activation activation_of(Config& config, const std::string& name, const char* otherwise) {
  constexpr EnumNames<Activation, 7> names{{
      {Activation::gelu_tanh, "gelu_new"},
      {Activation::gelu_tanh, "gelu_pytorch_tanh"},
      {Activation::gelu, "gelu"},
      {Activation::relu, "relu"},
      {Activation::silu, "silu"},
      {Activation::silu, "swish"},
      {Activation::tanh, "tanh"},
  }};
  return value_named(name.c_str(), config.text(name, otherwise), names);
}

// "rope_parameters", or the entries of older files.
RotaryOptions rotary_of(Config& config, double base, double part, Index head_size) {
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

GptOptions gpt2_options(Config& config) {
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
          .activation = activation_of(config, "activation_function", "gelu_new"),
          .norm_eps = config.number("layer_norm_epsilon", 1e-5)};
}

// What all models with rotary positions have.
GptOptions rotary_options(Config& config) {
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
GptOptions llama_options(Config& config, const std::string& type) {
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

GptOptions gpt_neox_options(Config& config) {
  GptOptions options = rotary_options(config);
  options.activation = activation_of(config, "hidden_act", "gelu");
  options.qkv_bias = options.attention_output_bias = config.flag("attention_bias", true);
  options.rotary = rotary_of(config, config.number("rotary_emb_base", 10000.0),
                             config.number("rotary_pct", 0.25), head_size_of(options));
  options.norm_eps = config.number("layer_norm_eps", 1e-5);
  options.parallel_residual = config.flag("use_parallel_residual", true);
  config.require("is_decoder", false);
  return options;
}

GptOptions options_of(Config& config) {
  const std::string type = config.text("model_type", "gpt2");
  if (type == "gpt2") return gpt2_options(config);
  if (type == "llama" || type == "mistral" || type == "qwen2" || type == "qwen3")
    return llama_options(config, type);
  if (type == "gpt_neox") return gpt_neox_options(config);
  fail<ValueError>("model_type", "gpt2, llama, mistral, qwen2, qwen3 or gpt_neox",
                   concatenate_text('\'', type, '\''));
}

// An id or a list of them.
Sequence ends_of(const json& ids, Index vocabulary_size) {
  Sequence ends;
  for (const json& id : ids.is_array() ? ids : json::array({ids})) {
    if (id.is_null()) continue;
    const bool is_token = id.is_number_unsigned() &&
                          id.get<std::uint64_t>() < static_cast<std::uint64_t>(vocabulary_size);
    if (!is_token)
      fail<ValueError>("eos_token_id", concatenate_text("tokens 0 … ", vocabulary_size - 1),
                       id.dump());
    ends.push_back(id.get<TokenId>());
  }
  return ends;
}

constexpr std::uintmax_t max_config_bytes = 4 << 20;

json read_json(const fs::path& path) { return parse_json(read_text(path, max_config_bytes), path); }

// Calls `read`, and names the file in what it throws.
template <class Read>
auto in_file(const fs::path& path, const Read& read) {
  try {
    return read();
  } catch (const ValueError& error) {
    throw FileError(concatenate_text(quoted(path), ": ", error.what()));
  }
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
  const std::string class_name = name == "qwen3"     ? "Qwen3ForCausalLM"
                                 : name == "qwen2"   ? "Qwen2ForCausalLM"
                                 : name == "mistral" ? "MistralForCausalLM"
                                                     : "LlamaForCausalLM";
  json config = {{"architectures", {class_name}},
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

}  // namespace

PretrainedGpt read_pretrained_gpt(const fs::path& folder) {
  const fs::path path = folder / "config.json", generation = folder / "generation_config.json";
  PretrainedGpt result;
  in_file(path, [&] {
    Config config(read_json(path));
    result.options = options_of(config);
    result.ends = ends_of(config.at("eos_token_id"), result.options.vocabulary_size);
    config.check_all_read();
  });
  if (std::error_code error; fs::exists(generation, error))
    in_file(generation, [&] {
      if (Sequence ends =
              ends_of(entry(read_json(generation), "eos_token_id"), result.options.vocabulary_size);
          !ends.empty())
        result.ends = std::move(ends);
    });
  return result;
}

fs::path pretrained_weights(const fs::path& folder) {
  std::error_code error;
  for (const char* const name : {"model.safetensors", "model.safetensors.index.json", "model.h5"})
    if (fs::exists(folder / name, error)) return folder / name;
  fail_on_file(folder, "model.safetensors, model.safetensors.index.json or model.h5",
               "none of them");
}

template <class T>
Gpt<T> load_pretrained_gpt(const fs::path& folder) {
  const GptOptions options = read_pretrained_gpt(folder).options;
  const fs::path weights = pretrained_weights(folder);
  // The sizes of a configuration are as long as those of the weights, or memory is not taken.
  double stored = 0;
  const std::unique_ptr<const TensorFile> file = open_tensor_file(weights);
  for (const std::string& path : file->datasets())
    stored += static_cast<double>(file->shape(path).elements());
  const auto number = [](Index index) { return static_cast<double>(index); };
  const double needed = number(options.num_hiddens) *
                        (number(options.vocabulary_size) +
                         number(options.num_blocks) * 2 *
                             number(options.ffn_num_hiddens.value_or(4 * options.num_hiddens)));
  if (needed > stored)
    fail_on_file(folder / "config.json",
                 concatenate_text("a model of the ", stored, " weights of ", quoted(weights)),
                 concatenate_text("one of more than ", needed));
  return in_file(folder / "config.json", [&] {
    Random zeros = Random::zeros();
    Gpt<T> model(options, zeros);
    (void)load_weights(weights, model);
    return model;
  });
}

template <class T>
void save_pretrained_gpt(const fs::path& folder, const Gpt<T>& model,
                         const PretrainedGpt& description, StorageType storage) {
  const std::string config = config_of(description.options, description.ends).dump(2) + "\n";
  save_weights(folder / "model.safetensors", model, {.layout = Layout::llama, .storage = storage});
  write_atomically(folder / "config.json", std::as_bytes(std::span(config)));
}

template Gpt<float> load_pretrained_gpt(const fs::path&);
template Gpt<double> load_pretrained_gpt(const fs::path&);
template void save_pretrained_gpt(const fs::path&, const Gpt<float>&, const PretrainedGpt&,
                                  StorageType);
template void save_pretrained_gpt(const fs::path&, const Gpt<double>&, const PretrainedGpt&,
                                  StorageType);

}  // namespace weft
