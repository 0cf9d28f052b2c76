#include "train/weights/internal/model_config.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "weft/autograd/error.hpp"
#include "train/tokenizers/internal/json_entries.hpp"

namespace weft {
namespace {

using nlohmann::json;

// Entries that do not change what a model computes, or only while it trains; also those with these
// ends.
constexpr std::string_view without_effect =
    " architectures attention_softmax_in_fp32 auto_map bias_dropout_fusion chunk_size_feed_forward "
    "directionality dtype finetuning_task gradient_checkpointing id2label initializer_factor "
    "initializer_range is_llama_config label2id masked_softmax_fusion max_window_layers "
    "model_type n_ctx offset_alibi output_past pooler_fc_size pooler_num_attention_heads "
    "pooler_num_fc_layers pooler_size_per_head pooler_type pretraining_tp problem_type "
    "quantization_config reorder_and_upcast_attn skip_bias_add skip_bias_add_qkv slow_but_exact "
    "summary_activation summary_first_dropout summary_proj_to_labels summary_type "
    "summary_use_proj task_specific_params tokenizer_class torch_dtype transformers.js_config "
    "transformers_version use_cache ";
constexpr std::string_view ends_without_effect[] = {"_token_id", "_dropout", "_pdrop",
                                                    "dropout_rate", "_dropout_prob"};

// Of two names of one activation, the first is written.
constexpr EnumNames<Activation, 7> activations{{
    {Activation::gelu_tanh, "gelu_new"},
    {Activation::gelu_tanh, "gelu_pytorch_tanh"},
    {Activation::gelu, "gelu"},
    {Activation::relu, "relu"},
    {Activation::silu, "silu"},
    {Activation::silu, "swish"},
    {Activation::tanh, "tanh"},
}};

}  // namespace

ModelConfig::ModelConfig(json entries) : entries_(std::move(entries)) {
  if (!entries_.is_object()) fail<ValueError>("configuration", "an object", entries_.type_name());
}

const json& ModelConfig::at(const std::string& name) {
  read_.insert(name);
  return entry(entries_, name);
}

void ModelConfig::size(const std::vector<std::string>& names, Index& value,
                       std::optional<Index> otherwise) {
  if (is_written_) return set(names.front(), value);
  const auto name = std::ranges::find_if(names, [this](const auto& each) { return has(each); });
  if (name == names.end() && !otherwise) fail<ValueError>(names.front(), "an entry", "none");
  value = name == names.end() ? *otherwise : checked_size(*name);
}

void ModelConfig::size(const std::string& name, std::optional<Index>& value) {
  if (!is_written_)
    value = has(name) ? std::optional(checked_size(name)) : std::nullopt;
  else if (value)
    set(name, *value);
}

template <class T>
void ModelConfig::either(const std::string& name, T& value, const T& otherwise) {
  if (is_written_) return set(name, value);
  at(name);
  value = entry_or(entries_, name, otherwise);
}

void ModelConfig::number(const std::string& name, double& value, double otherwise) {
  either(name, value, otherwise);
}

void ModelConfig::flag(const std::string& name, bool& value, bool otherwise) {
  either(name, value, otherwise);
}

void ModelConfig::text(const std::string& name, std::string& value, const std::string& otherwise) {
  either(name, value, otherwise);
}

void ModelConfig::activation(const std::string& name, Activation& value,
                             const std::string& otherwise) {
  std::string its_name = is_written_ ? name_of_activation(name, value) : "";
  text(name, its_name, otherwise);
  value = value_named(name.c_str(), its_name, activations);
}

std::string ModelConfig::name_of_activation(const std::string& entry, Activation value) {
  return name_of(entry.c_str(), value, activations);
}

void ModelConfig::token(const std::string& name, TokenId& value, TokenId otherwise,
                        Index vocabulary_size) {
  Sequence only{value};
  tokens(name, only, vocabulary_size);
  value = only.empty() ? otherwise : only.front();
}

void ModelConfig::tokens(const std::string& name, Sequence& value, Index vocabulary_size) {
  if (is_written_) {
    if (!value.empty()) set(name, value.size() == 1 ? json(value.front()) : json(value));
    return;
  }
  value.clear();
  const json& ids = at(name);
  for (const json& id : ids.is_array() ? ids : json::array({ids})) {
    if (id.is_null()) continue;
    const bool is_token = id.is_number_unsigned() &&
                          id.get<std::uint64_t>() < static_cast<std::uint64_t>(vocabulary_size);
    if (!is_token)
      fail<ValueError>(name, concatenate_text("tokens 0 … ", vocabulary_size - 1), id.dump());
    value.push_back(id.get<TokenId>());
  }
}

void ModelConfig::require(const std::string& name, const json& value) {
  if (is_written_) return set(name, value);
  if (has(name) && at(name) != value)
    fail<ValueError>(name, value.dump(), at(name).dump().substr(0, 80));
}

void ModelConfig::check_all_read() const {
  for (const auto& [name, value] : entries_.items()) {
    const auto ends = [&text = name](std::string_view end) { return text.ends_with(end); };
    const bool is_known = read_.contains(name) || name.starts_with('_') ||
                          std::ranges::any_of(ends_without_effect, ends) ||
                          without_effect.find(' ' + name + ' ') != without_effect.npos;
    if (!is_known && !value.is_null())
      fail<ValueError>(name, "an entry that is known",
                       concatenate_text(value.dump().substr(0, 80),
                                        " (without it, if it changes nothing, the file is read)"));
  }
}

Index ModelConfig::checked_size(const std::string& name) {
  const auto value = entry_or<std::int64_t>(entries_, name, 0);
  constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
  if (value < 1 || value > highest)
    fail<ValueError>(name, concatenate_text("an integer of 1 … ", highest), value);
  return value;
}

}  // namespace weft
