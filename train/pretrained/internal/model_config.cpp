#include "train/pretrained/internal/model_config.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "weft/autograd/error.hpp"
#include "train/files/internal/json_entries.hpp"

namespace weft {
namespace {

using nlohmann::json;

// Entries that all configuration classes of transformers accept and that do not change what a model
// computes in evaluation. Entries of a single class are listed in the function that reads them.
constexpr std::string_view without_effect[] = {
    // Information about the files and the program that wrote them.
    " architectures author auto_map bos_token created_date custom_pipelines dtype eos_token "
    "finetuning_task id2label label2id license model_type name_or_path num_labels pad_token "
    "problem_type sentence_transformers task_specific_params tokenizer_class torch_dtype "
    "transformers.js_config transformers_version unk_token unsloth_fixed unsloth_version ",
    // Training.
    " gradient_checkpointing initializer_factor initializer_range ",
    // Additional results besides the logits, and how results are computed.
    " attn_implementation chunk_size_feed_forward output_attentions output_hidden_states "
    "output_past "
    "return_dict tf_legacy_loss torchscript use_bfloat16 use_cache ",
    // Default options of text generation, from older versions.
    " bad_words_ids begin_suppress_tokens diversity_penalty do_sample early_stopping "
    "encoder_no_repeat_ngram_size exponential_decay_length_penalty length_penalty max_length "
    "min_length no_repeat_ngram_size num_beam_groups num_beams num_return_sequences output_scores "
    "prefix remove_invalid_values repetition_penalty return_dict_in_generate suppress_tokens "
    "temperature top_k top_p typical_p "};
// Entries that are accepted if they have their default value.
constexpr std::pair<std::string_view, std::string_view> defaults[] = {
    {"add_cross_attention", "false"}, {"is_decoder", "false"},
    {"is_encoder_decoder", "false"},  {"pruned_heads", "{}"},
    {"tie_encoder_decoder", "false"}, {"use_mrope", "false"},
};
// Suffixes of accepted names: tokens used only by tokenizers and generation, and dropout.
constexpr std::string_view ends_without_effect[] = {"_token_id", "_dropout", "_pdrop",
                                                    "dropout_rate", "_dropout_prob"};

// The names of activation functions in transformers. The first name of each is written.
constexpr EnumNames<Activation, 14> activations{{
    {Activation::gelu_tanh, "gelu_new"},
    {Activation::gelu_tanh, "gelu_pytorch_tanh"},
    {Activation::gelu_tanh, "gelu_python_tanh"},
    {Activation::gelu_tanh, "gelu_fast"},
    {Activation::gelu_tanh, "gelu_accurate"},
    {Activation::gelu, "gelu"},
    {Activation::gelu, "gelu_python"},
    {Activation::relu, "relu"},
    {Activation::squared_relu, "relu2"},
    {Activation::silu, "silu"},
    {Activation::silu, "swish"},
    {Activation::tanh, "tanh"},
    {Activation::sigmoid, "sigmoid"},
    {Activation::none, "linear"},
}};

bool is_token(const json& id, Index vocabulary_size) {
  return id.is_number_integer() && id >= 0 && id < vocabulary_size;
}

void check_token(const std::string& name, const json& id, Index vocabulary_size) {
  if (!is_token(id, vocabulary_size))
    fail<ValueError>(name, str_cat("a token from 0 to ", vocabulary_size - 1), shown(id));
}

// Returns an entry that the object contains. Throws ValueError if it is null or has a different
// type.
template <class T>
T present_entry(const json& object, const std::string& name) {
  if (object.at(name).is_null()) fail<ValueError>(name, "a value", "null");
  return entry_or(object, name, T{});
}

}  // namespace

ModelConfig::ModelConfig(json entries) : entries_(std::move(entries)) {
  if (!entries_.is_object()) fail<ValueError>("configuration", "an object", entries_.type_name());
}

const json& ModelConfig::at(const std::string& name) {
  read_.insert(name);
  return entry(entries_, name);
}

bool ModelConfig::contains(const std::string& name) {
  read_.insert(name);
  return entries_.contains(name);
}

void ModelConfig::ignore(std::initializer_list<const char*> names) {
  read_.insert(names.begin(), names.end());
}

void ModelConfig::rename(const std::string& name, const std::string& known) {
  if (const auto found = entries_.find(name); found != entries_.end() && !is_written_) {
    entries_[known] = std::move(*found);
    entries_.erase(name);
  }
}

void ModelConfig::size(const std::string& name, Index& value, std::optional<Index> otherwise,
                       Index lowest) {
  if (is_written_) return set(name, value);
  if (!contains(name) && !otherwise) fail<ValueError>(name, "an entry", "none");
  value = contains(name) ? checked_size(name, lowest) : *otherwise;
}

void ModelConfig::optional_size(const std::string& name, std::optional<Index>& value,
                                std::optional<Index> otherwise) {
  if (!is_written_)
    value = !contains(name) ? otherwise
            : has(name)     ? std::optional(checked_size(name, 1))
                            : std::nullopt;
  else if (value)
    set(name, *value);
}

template <class T>
void ModelConfig::either(const std::string& name, T& value, const T& otherwise) {
  if (is_written_) return set(name, value);
  value = contains(name) ? present_entry<T>(entries_, name) : otherwise;
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
  value = enum_from_name(name.c_str(), its_name, activations);
}

std::string ModelConfig::name_of_activation(const std::string& entry, Activation value) {
  return name_of(entry.c_str(), value, activations);
}

void ModelConfig::token(const std::string& name, TokenId& value, TokenId otherwise,
                        Index vocabulary_size) {
  if (is_written_) {
    check_token(name, value, vocabulary_size);
    return set(name, value);
  }
  const json& id = at(name);
  if (!id.is_null()) check_token(name, id, vocabulary_size);
  value = id.is_null() ? otherwise : id.get<TokenId>();
}

void ModelConfig::tokens(const std::string& name, TokenIds& value, Index vocabulary_size,
                         const json& otherwise) {
  if (is_written_) {
    for (TokenId id : value) check_token(name, id, vocabulary_size);
    if (!value.empty()) set(name, value.size() == 1 ? json(value.front()) : json(value));
    return;
  }
  value.clear();
  const json& ids = contains(name) ? at(name) : otherwise;
  for (const json& id : ids.is_array() ? ids : json::array({ids})) {
    if (id.is_null()) continue;
    if (!id.is_number_integer())
      fail<ValueError>(name, "an integer, or a list of integers", shown(id));
    if (is_token(id, vocabulary_size)) value.push_back(id.get<TokenId>());
  }
}

void ModelConfig::require(const std::string& name, const json& value) {
  if (is_written_) return set(name, value);
  if (has(name) && at(name) != value) fail<ValueError>(name, value.dump(), shown(at(name)));
}

void ModelConfig::check_all_read() const {
  for (const auto& [name, value] : entries_.items()) {
    const std::string text = value.dump();
    const auto ends = [&own = name](std::string_view end) { return own.ends_with(end); };
    const auto is_listed = [word = ' ' + name + ' '](std::string_view list) {
      return list.find(word) != list.npos;
    };
    const bool is_known =
        read_.contains(name) || name.starts_with('_') ||
        std::ranges::any_of(ends_without_effect, ends) ||
        std::ranges::find(defaults, std::pair(std::string_view(name), std::string_view(text))) !=
            std::end(defaults) ||
        std::ranges::any_of(without_effect, is_listed);
    if (!is_known && !value.is_null())
      fail<ValueError>(name, "a known entry",
                       str_cat(text.substr(0, 80), " (remove it if it does not change the model)"));
  }
}

Index ModelConfig::checked_size(const std::string& name, Index lowest) {
  const auto value = present_entry<std::int64_t>(entries_, name);
  constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
  if (value < lowest || value > highest)
    fail<ValueError>(name, str_cat("an integer from ", lowest, " to ", highest), value);
  return value;
}

}  // namespace weft
