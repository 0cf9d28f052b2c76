#include "weft/train/pretrained/lora_weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/autograd/finite.hpp"
#include "weft/train/files/safetensors/safetensors_file.hpp"
#include "weft/train/files/safetensors/safetensors_writer.hpp"
#include "weft/train/files/utf8.hpp"
#include "weft/train/weights/name_pattern.hpp"
#include "train/files/internal/atomic_file.hpp"
#include "train/files/internal/file_descriptor.hpp"
#include "train/files/internal/json_entries.hpp"
#include "train/weights/internal/layouts.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string prefix = "base_model.model.";
const std::string a_end = ".lora_A.weight", b_end = ".lora_B.weight";

// Returns the name of a layer in a layout, for example "model.layers.0.self_attn.q_proj".
std::string name_in(const WeightLayout& layout, const std::string& layer) {
  const std::string end = ".weight";
  const WeightPart dataset = layout.dataset_of(layer + end);
  if (dataset.name.empty() || dataset.parts > 1 || dataset.is_transposed)
    fail<ValueError>("save_lora: " + layer,
                     "a separate, untransposed dataset in the layout " + layout.name, "none");
  return dataset.name.substr(0, dataset.name.size() - end.size());
}

// Returns entries of adapter_config.json with their defaults, which are the only supported values.
// With other values, PEFT trains or computes something else.
json required_entries() {
  return {{"peft_type", "LORA"},
          {"alora_invocation_tokens", nullptr},
          {"arrow_config", nullptr},
          {"bias", "none"},
          {"ensure_weight_tying", false},
          {"kasa_config", nullptr},
          {"layer_replication", nullptr},
          {"lora_bias", false},
          {"megatron_config", nullptr},
          {"modules_to_save", nullptr},
          {"monteclora_config", nullptr},
          {"target_parameters", nullptr},
          {"trainable_token_indices", nullptr},
          {"use_bdlora", nullptr},
          {"use_dora", false},
          {"use_qalora", false},
          {"velora_config", nullptr}};
}

// Entries that do not affect what trained adapters compute, and entries that AdapterConfig reads.
// fan_in_fan_out describes how PEFT stores the base layer; the remaining entries configure
// initializations.
constexpr std::string_view known_entries =
    " alpha_pattern auto_mapping base_model_name_or_path corda_config eva_config exclude_modules "
    "fan_in_fan_out inference_mode init_lora_weights layers_pattern layers_to_transform "
    "loftq_config lora_alpha lora_dropout lora_ga_config megatron_core merge_weights peft_version "
    "qalora_group_size r rank_pattern revision runtime_config target_modules task_type "
    "use_rslora ";

// PEFT's initializations that do not change the weights of the base model. PEFT's other
// initializations (pissa, olora, corda, loftq, lora_ga) subtract something from them, even when
// adapters are loaded.
constexpr std::string_view initializations[] = {"gaussian", "eva", "orthogonal", "mica"};

void check_initialization(const json& kind) {
  if (!kind.is_null() && !kind.is_boolean() &&
      std::ranges::find(initializations, kind.is_string() ? kind.get<std::string>() : "") ==
          std::end(initializations))
    fail<ValueError>("init_lora_weights",
                     "true, false, gaussian, eva, orthogonal or mica, which keep the weights of "
                     "the base model",
                     shown(kind));
}

// The contents of PEFT's adapter_config.json.
class AdapterConfig {
 public:
  // Throws ValueError for unknown entries and for values that weft does not support.
  explicit AdapterConfig(json config) : config_(std::move(config)) {
    if (!config_.is_object()) fail<ValueError>("configuration", "an object", config_.type_name());
    const json required = required_entries();
    for (const auto& [name, value] : config_.items()) {
      if (value.is_null()) continue;
      if (const json& only = entry(required, name); required.contains(name)) {
        if (value != only && !(only.is_null() && value.empty()))
          fail<ValueError>(name, only.dump(), shown(value));
      } else if (known_entries.find(' ' + name + ' ') == known_entries.npos) {
        fail<ValueError>(name, "a known entry", shown(value));
      }
    }
    check_initialization(entry(config_, "init_lora_weights"));
    (void)options("");
  }

  // Returns the options of a layer's adapter, which depend on rank_pattern and alpha_pattern.
  LoraOptions options(const std::string& layer) const {
    const json rank = pattern_value("rank_pattern", layer, "r"),
               alpha = pattern_value("alpha_pattern", layer, "lora_alpha");
    LoraOptions options{.rank = entry_or<std::int64_t>(rank, "r", 8),
                        .alpha = entry_or(alpha, "lora_alpha", 8.0),
                        .dropout = entry_or(config_, "lora_dropout", 0.0)};
    constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
    if (options.rank < 1 || options.rank > highest)
      fail<ValueError>("r", str_cat("an integer from 1 to ", highest), options.rank);
    // Kalajdzievski, 2023: alpha / √rank instead of alpha / rank.
    if (entry_or(config_, "use_rslora", false))
      options.alpha *= std::sqrt(static_cast<double>(options.rank));
    return options;
  }

  // Returns whether PEFT adds an adapter to a layer.
  bool is_target(const std::string& layer) const {
    const json &excluded = entry(config_, "exclude_modules"),
               &targets = entry(config_, "target_modules");
    if (!excluded.empty() && is_listed("exclude_modules", excluded, layer)) return false;
    if (targets == "all-linear") return layer != "lm_head" && layer != "embed_out";
    return is_listed("target_modules", targets, layer) && is_transformed(layer);
  }

 private:
  static bool is_listed(const char* name, const json& modules, const std::string& layer) {
    if (modules.is_string()) return matching(modules.get<std::string>(), name)(layer);
    if (!modules.is_array())
      fail<ValueError>(name, "a list or a regular expression", shown(modules));
    return std::ranges::any_of(modules, [&](const json& module) {
      if (!module.is_string()) fail<ValueError>(name, "names of layers", shown(module));
      const auto end = module.get<std::string>();
      return layer == end || layer.ends_with("." + end);
    });
  }

  // Returns whether the layer's index is in layers_to_transform. The index is the first number in
  // its name that follows a name in layers_pattern; without layers_pattern, the first number from
  // the third part of the name on.
  bool is_transformed(const std::string& layer) const {
    const json &indices = entry(config_, "layers_to_transform"),
               &pattern = entry(config_, "layers_pattern");
    if (indices.empty()) return true;
    std::vector<std::string> parts;
    for (std::size_t begin = 0, end = 0; end < layer.size(); begin = end + 1) {
      end = std::min(layer.find('.', begin), layer.size());
      parts.push_back(layer.substr(begin, end - begin));
    }
    for (std::size_t i = pattern.empty() ? 2 : 1; i + 1 < parts.size(); ++i) {
      const bool is_number = parts[i].find_first_not_of("0123456789") == std::string::npos;
      const json& names = pattern.is_string() ? json::array({pattern}) : pattern;
      if (is_number && (pattern.empty() || std::ranges::count(names, json(parts[i - 1])) > 0))
        return std::ranges::any_of(indices.is_array() ? indices : json::array({indices}),
                                   [&](const json& index) { return index.dump() == parts[i]; });
    }
    return false;
  }

  // Returns the value of the entry `name` for a layer, as PEFT determines it: from the pattern that
  // matches the end of the layer's name, or else from the configuration. Parsed JSON does not keep
  // the order of patterns. Therefore, throws ValueError if patterns with different values match.
  json pattern_value(const char* patterns, const std::string& layer, const char* name) const {
    json result = {{name, entry(config_, name)}};
    const json& all = entry(config_, patterns);
    if (!all.is_null() && !all.is_object()) fail<ValueError>(patterns, "an object", shown(all));
    bool is_found = false;
    for (const auto& [pattern, value] : all.items()) {
      if (!matching("(.*\\.)?(" + pattern + ")", patterns)(layer)) continue;
      if (is_found && result[name] != value)
        fail<ValueError>(patterns, "one value for each layer",
                         str_cat(shown(result[name]), " and ", shown(value), " for ", layer));
      is_found = true;
      result[name] = value;
    }
    return result;
  }

  json config_;
};

// The linear layers of a model, by their names in the adapters' file. Uses the first layout that
// contains all names in the file, or else the last layout.
template <class T>
struct AdaptedLayers {
  std::map<std::string, NamedLinear<T>> found;
  const WeightLayout* layout;
};

template <class T>
AdaptedLayers<T> layers_of(const std::vector<NamedLinear<T>>& layers,
                           const std::set<std::string>& names) {
  AdaptedLayers<T> result;
  for (const WeightLayout& layout : weight_layouts()) {
    result = {{}, &layout};
    for (const std::string& name : names) {
      const auto weights = layout.weights_in(name + ".weight");
      const auto layer = std::ranges::find_if(layers, [&](const NamedLinear<T>& candidate) {
        return weights.size() == 1 && candidate.name + ".weight" == weights.front().name;
      });
      if (layer != layers.end()) result.found.emplace(name, *layer);
    }
    if (result.found.size() == names.size()) return result;
  }
  return result;
}

// Returns the name of a target layer that has no adapter although the same layer of another block
// has one, or "" if there is none.
template <class T>
std::string layer_without_adapter(const std::vector<NamedLinear<T>>& layers,
                                  const AdaptedLayers<T>& adapted, const AdapterConfig& config) {
  const auto without_number = [](const std::string& name) {
    std::string result;
    for (const char character : name)
      if (character < '0' || character > '9' || !result.ends_with('.')) result += character;
    return result;
  };
  std::set<std::string> own, kinds;
  for (const auto& [name, layer] : adapted.found) {
    own.insert(layer.name);
    kinds.insert(without_number(layer.name));
  }
  for (const NamedLinear<T>& layer : layers) {
    if (own.contains(layer.name) || !kinds.contains(without_number(layer.name))) continue;
    const std::string name = name_in(*adapted.layout, layer.name);
    if (config.is_target(name)) return name;
  }
  return "";
}

}  // namespace

template <class T>
void save_lora(const fs::path& folder, const Module<T>& model, Layout layout,
               const std::string& base) {
  const WeightLayout& names = weight_layout(layout);
  SafetensorsWriter writer(folder / "adapter_model.safetensors");
  std::set<std::string> targets;
  std::optional<LoraOptions> options;
  json ranks = json::object(), alphas = json::object();  // for layers that differ from the first
  // The const_cast is safe, because the layers are only read.
  for (const auto& [name, linear] : named_linear_layers(const_cast<Module<T>&>(model))) {
    const auto* lora = dynamic_cast<const Lora<T>*>(linear->map.get());
    if (!lora) continue;
    const LoraOptions& own = lora->options();
    const std::string layer = name_in(names, name);
    if (!options) options = own;
    if (own.rank != options->rank) ranks[layer] = own.rank;
    if (own.alpha != options->alpha) alphas[layer] = own.alpha;
    targets.insert(layer.substr(layer.rfind('.') + 1));
    for (const auto& [end, value] : {std::pair(a_end, lora->a.value()), {b_end, lora->b.value()}}) {
      check_finite(name + end, value);
      writer.tensor<T>(prefix + layer + end, value.shape(), [tensor = value] { return tensor; });
    }
  }
  if (!options) fail<ValueError>("save_lora", "a model with adapters", "a model without adapters");
  const json config = {{"peft_type", "LORA"},
                       {"base_model_name_or_path", base},
                       {"r", options->rank},
                       {"lora_alpha", options->alpha},
                       {"lora_dropout", options->dropout},
                       {"rank_pattern", ranks},
                       {"alpha_pattern", alphas},
                       {"target_modules", targets},
                       {"bias", "none"},
                       {"task_type", "CAUSAL_LM"},
                       {"inference_mode", true}};
  writer.save();
  const std::string text = config.dump(2) + '\n';
  write_atomically(folder / "adapter_config.json", std::as_bytes(std::span(text)));
}

template <class T>
Index load_lora(const fs::path& folder, Module<T>& model) {
  const fs::path config = folder / "adapter_config.json",
                 weights = folder / "adapter_model.safetensors";
  const auto in_config = [&](const auto& use) {
    try {
      return use();
    } catch (const ValueError& error) {
      throw FileError(str_cat(quoted(config), ": ", error.what()));
    }
  };
  const AdapterConfig adapter_config = in_config(
      [&] { return AdapterConfig(parse_json(read_text(config, max_vocabulary_bytes), config)); });
  const SafetensorsFile file(weights);
  std::set<std::string> names;
  for (const std::string& path : file.datasets()) {
    const std::string name = path.substr(1);
    if (!name.starts_with(prefix) || !(name.ends_with(a_end) || name.ends_with(b_end)))
      fail_on_file(weights, "only names " + prefix + "…" + a_end + " and …" + b_end, name);
    names.insert(name.substr(prefix.size(), name.size() - prefix.size() - a_end.size()));
  }
  const auto all_layers = named_linear_layers(model);
  const AdaptedLayers<T> layers = layers_of(all_layers, names);
  if (layers.found.empty() || layers.found.size() < names.size())
    fail_on_file(
        weights, "adapters of linear layers of the model",
        names.empty() ? "none" : *std::ranges::find_if(names, [&](const std::string& name) {
          return !layers.found.contains(name);
        }));
  if (const std::string missing =
          in_config([&] { return layer_without_adapter(all_layers, layers, adapter_config); });
      !missing.empty())
    fail_on_file(weights, "an adapter for each of target_modules", "none for " + missing);
  std::map<Linear<T>*, std::unique_ptr<Lora<T>>> adapters;
  for (const auto& [name, layer] : layers.found) {
    Linear<T>* const linear = layer.linear;
    if (linear->map)
      fail<ValueError>("load_lora: " + name, "a layer without an adapter", "a layer with one");
    const LoraOptions options = in_config([&, &own = name] {
      if (!adapter_config.is_target(own))
        fail<ValueError>("target_modules", "all layers with adapter weights",
                         "a list without " + own);
      return adapter_config.options(own);
    });
    // Reads the file before allocating memory that depends on the rank.
    const auto read = [&, &own = name](const std::string& end, const Shape& shape) {
      Tensor<T> value = file.tensor<T>(prefix + own + end, shape);
      check_finite(own + end, value);
      return value;
    };
    const Shape weight = linear->weight.shape();
    Tensor<T> a = read(a_end, {options.rank, weight[1]}),
              b = read(b_end, {weight[0], options.rank});
    Random zeros = Random::zeros();
    auto lora =
        in_config([&, &own = *linear] { return std::make_unique<Lora<T>>(own, options, zeros); });
    lora->a.set_value(std::move(a));
    lora->b.set_value(std::move(b));
    adapters.emplace(linear, std::move(lora));
  }
  suspend_gradients(model);
  for (auto& [linear, lora] : adapters) linear->map = std::move(lora);
  return std::ssize(adapters);
}

template void save_lora(const fs::path&, const Module<float>&, Layout, const std::string&);
template void save_lora(const fs::path&, const Module<double>&, Layout, const std::string&);
template Index load_lora(const fs::path&, Module<float>&);
template Index load_lora(const fs::path&, Module<double>&);

}  // namespace weft
