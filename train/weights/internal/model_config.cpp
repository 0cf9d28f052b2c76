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

}  // namespace

ModelConfig::ModelConfig(json entries) : entries_(std::move(entries)) {
  if (!entries_.is_object()) fail<ValueError>("configuration", "an object", entries_.type_name());
}

const json& ModelConfig::at(const std::string& name) {
  read_.insert(name);
  return entry(entries_, name);
}

Index ModelConfig::size(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (has(name)) return checked_size(name);
  fail<ValueError>(names.front(), "an entry", "none");
}

std::optional<Index> ModelConfig::size_if_given(const std::string& name) {
  return has(name) ? std::optional(checked_size(name)) : std::nullopt;
}

double ModelConfig::number(const std::string& name, double otherwise) {
  at(name);
  return entry_or(entries_, name, otherwise);
}

bool ModelConfig::flag(const std::string& name, bool otherwise) {
  at(name);
  return entry_or(entries_, name, otherwise);
}

std::string ModelConfig::text(const std::string& name, const std::string& otherwise) {
  at(name);
  return entry_or(entries_, name, otherwise);
}

Activation ModelConfig::activation(const std::string& name, const std::string& otherwise) {
  constexpr EnumNames<Activation, 7> names{{
      {Activation::gelu_tanh, "gelu_new"},
      {Activation::gelu_tanh, "gelu_pytorch_tanh"},
      {Activation::gelu, "gelu"},
      {Activation::relu, "relu"},
      {Activation::silu, "silu"},
      {Activation::silu, "swish"},
      {Activation::tanh, "tanh"},
  }};
  return value_named(name.c_str(), text(name, otherwise), names);
}

TokenId ModelConfig::token(const std::string& name, TokenId otherwise, Index vocabulary_size) {
  const Sequence found = tokens(name, vocabulary_size);
  return found.empty() ? otherwise : found.front();
}

Sequence ModelConfig::tokens(const std::string& name, Index vocabulary_size) {
  Sequence tokens;
  const json& ids = at(name);
  for (const json& id : ids.is_array() ? ids : json::array({ids})) {
    if (id.is_null()) continue;
    const bool is_token = id.is_number_unsigned() &&
                          id.get<std::uint64_t>() < static_cast<std::uint64_t>(vocabulary_size);
    if (!is_token)
      fail<ValueError>(name, concatenate_text("tokens 0 … ", vocabulary_size - 1), id.dump());
    tokens.push_back(id.get<TokenId>());
  }
  return tokens;
}

void ModelConfig::require(const std::string& name, const json& value) {
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
