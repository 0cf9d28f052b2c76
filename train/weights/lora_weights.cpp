#include "weft/train/weights/lora_weights.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/finite.hpp"
#include "weft/train/data/characters.hpp"
#include "weft/train/weights/safetensors_file.hpp"
#include "weft/train/weights/safetensors_writer.hpp"
#include "train/files/atomic_file.hpp"
#include "train/files/file_descriptor.hpp"
#include "train/tokenizers/internal/json_entries.hpp"
#include "train/weights/internal/layouts.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string prefix = "base_model.model.";
const std::string a_end = ".lora_A.weight", b_end = ".lora_B.weight";

// The name of a layer in a layout, "model.layers.0.self_attn.q_proj".
std::string name_in(const WeightLayout& layout, const std::string& layer) {
  const std::string end = ".weight";
  const WeightPart dataset = layout.dataset_of(layer + end);
  if (dataset.name.empty() || dataset.parts > 1 || dataset.is_transposed)
    fail<ValueError>("save_lora: " + layer, "a layer with a name in the layout " + layout.name,
                     "another");
  return dataset.name.substr(0, dataset.name.size() - end.size());
}

LoraOptions options_in(const json& config) {
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, json>>{{"peft_type", "LORA"},
                                                           {"use_dora", false},
                                                           {"use_rslora", false},
                                                           {"fan_in_fan_out", false},
                                                           {"bias", "none"},
                                                           {"lora_bias", false},
                                                           {"modules_to_save", nullptr},
                                                           {"layer_replication", nullptr},
                                                           {"target_parameters", nullptr},
                                                           {"trainable_token_indices", nullptr},
                                                           {"alora_invocation_tokens", nullptr},
                                                           {"use_qalora", false},
                                                           {"rank_pattern", json::object()},
                                                           {"alpha_pattern", json::object()}})
    if (const json& own = entry(config, name); !own.is_null() && own != value)
      fail<ValueError>(name, value.dump(), own.dump().substr(0, 80));
  const auto rank = required_entry<std::int64_t>(config, "r");
  constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
  if (rank < 1 || rank > highest)
    fail<ValueError>("r", concatenate_text("an integer of 1 … ", highest), rank);
  return {.rank = rank,
          .alpha = required_entry<double>(config, "lora_alpha"),
          .dropout = entry_or(config, "lora_dropout", 0.0)};
}

// The linear layers of a model by the names that they have in the adapters' file: those of the
// first layout that has them all, or of weft.
template <class T>
std::map<std::string, Linear<T>*> layers_of(Module<T>& model, const std::set<std::string>& names) {
  const auto layers = named_linear_layers(model);
  std::map<std::string, Linear<T>*> found;
  for (const WeightLayout& layout : weight_layouts()) {
    found.clear();
    for (const std::string& name : names) {
      const auto weights = layout.weights_in(name + ".weight");
      const auto layer = std::ranges::find_if(layers, [&](const NamedLinear<T>& candidate) {
        return weights.size() == 1 && candidate.name + ".weight" == weights.front().name;
      });
      if (layer != layers.end()) found.emplace(name, layer->linear);
    }
    if (found.size() == names.size()) return found;
  }
  return found;
}

}  // namespace

template <class T>
void save_lora(const fs::path& folder, const Module<T>& model, Layout layout,
               const std::string& base) {
  const WeightLayout& names = weight_layout(layout);
  SafetensorsWriter writer(folder / "adapter_model.safetensors");
  std::set<std::string> targets;
  std::optional<LoraOptions> options;
  // The layers are only read.
  for (const auto& [name, linear] : named_linear_layers(const_cast<Module<T>&>(model))) {
    const auto* lora = dynamic_cast<const Lora<T>*>(linear->map.get());
    if (!lora) continue;
    const LoraOptions& own = lora->options();
    if (options && (own.rank != options->rank || own.alpha != options->alpha))
      fail<ValueError>("save_lora: " + name, "adapters of the same rank and alpha", "another");
    options = own;
    const std::string layer = name_in(names, name);
    targets.insert(layer.substr(layer.rfind('.') + 1));
    for (const auto& [end, value] : {std::pair(a_end, lora->a.value()), {b_end, lora->b.value()}}) {
      check_finite(name + end, value);
      writer.tensor<T>(prefix + layer + end, value.shape(), [tensor = value] { return tensor; });
    }
  }
  if (!options) fail<ValueError>("save_lora", "a model with adapters", "one without");
  const json config = {{"peft_type", "LORA"},
                       {"base_model_name_or_path", base},
                       {"r", options->rank},
                       {"lora_alpha", options->alpha},
                       {"lora_dropout", options->dropout},
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
      throw FileError(concatenate_text(quoted(config), ": ", error.what()));
    }
  };
  const LoraOptions options = in_config(
      [&] { return options_in(parse_json(read_text(config, max_vocabulary_bytes), config)); });
  const SafetensorsFile file(weights);
  std::set<std::string> names;
  for (const std::string& path : file.datasets()) {
    const std::string name = path.substr(1);
    if (!name.starts_with(prefix) || !(name.ends_with(a_end) || name.ends_with(b_end)))
      fail_on_file(weights, prefix + "…" + a_end + " and …" + b_end, name);
    names.insert(name.substr(prefix.size(), name.size() - prefix.size() - a_end.size()));
  }
  const std::map<std::string, Linear<T>*> layers = layers_of(model, names);
  if (layers.empty() || layers.size() < names.size())
    fail_on_file(
        weights, "adapters of linear layers of the model",
        names.empty() ? "none" : *std::ranges::find_if(names, [&](const std::string& name) {
          return !layers.contains(name);
        }));
  std::map<Linear<T>*, std::unique_ptr<Lora<T>>> adapters;
  for (const auto& [name, linear] : layers) {
    if (linear->map) fail<ValueError>("load_lora: " + name, "a layer without an adapter", "one");
    // Read before memory of the rank is taken.
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
