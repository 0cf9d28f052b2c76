#include "train/weights/internal/weight_sources.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <unordered_map>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/layers/multi_head_attention.hpp"
#include "train/files/internal/file_descriptor.hpp"
#include "train/weights/internal/differences.hpp"

namespace weft {
namespace {

// Collects, for each parameter, the type of the layer that registers it first, and its name in this
// layer.
template <class T>
class Layers final : public Members<T> {
 public:
  struct Place {
    std::string type, name;
    Index heads;
  };

  void type(const std::string& name, const std::string&) override { type_ = name; }
  void parameter(const std::string& name, const Parameter<T>& parameter) override {
    places.try_emplace(&parameter, Place{type_, name, heads_});
  }
  void child(const std::string&, const Module<T>& child) override {
    const std::string outer = std::exchange(type_, "");
    const Index outer_heads = heads_;
    enter(child);
    type_ = outer;
    heads_ = outer_heads;
  }
  void enter(const Module<T>& module) {
    if (const auto* attention = dynamic_cast<const MultiHeadAttention<T>*>(&module)) {
      heads_ = attention->attention.num_heads;
      has_interleaved_pairs |=
          attention->rotary && attention->rotary->pairs == RotaryPairs::interleaved;
    }
    module.members(*this);
  }

  std::unordered_map<const Parameter<T>*, Place> places;
  bool has_interleaved_pairs = false;

 private:
  std::string type_;
  Index heads_ = 0;
};

bool is_recurrent(const std::string& layer) {
  return layer == "GRU" || layer == "LSTM" || layer == "RNN";
}

bool is_linear(const std::string& layer, const std::string& name) {
  return layer == "Linear" ? name == "weight" : is_recurrent(layer) && name.starts_with("weight_");
}

using Names = std::vector<std::string>;
using Sources = std::multimap<std::string, WeightSource>;  // by the name of the weight

bool has_mark(const WeightLayout& layout, const TensorFile& file, const PathsByName& paths) {
  if (!layout.foreign.empty() && std::ranges::any_of(paths, [&](const auto& entry) {
        return entry.first.ends_with(layout.foreign);
      }))
    return false;
  return std::ranges::any_of(paths, [&](const auto& entry) {
    const auto& [name, path] = entry;
    const bool is_marked = std::ranges::any_of(
        layout.marks, [&dataset = name](std::string_view mark) { return dataset.ends_with(mark); });
    return is_marked && (!layout.may_have || layout.may_have(file.dataset(path).shape()));
  });
}

// Returns the common prefix of all required names. Comparing the first and the last name is enough,
// because they are sorted.
std::string common_start(const Sources& sources) {
  const auto is_required = [](const auto& entry) { return !entry.second.weight.is_optional; };
  const auto first = std::find_if(sources.begin(), sources.end(), is_required);
  const auto last = std::find_if(sources.rbegin(), sources.rend(), is_required);
  if (first == sources.end()) return "";
  return {first->first.begin(), std::ranges::mismatch(first->first, last->first).in1};
}

Names prefixes_of(const Sources& sources, const WeightLayout& layout) {
  Names prefixes{"", "model."}, anchored;
  for (const auto& [name, source] : sources)
    if (!layout.anchor.empty() && name.ends_with('.' + layout.anchor))
      anchored.push_back(name.substr(0, name.size() - layout.anchor.size()));
  if (anchored.size() == 1) prefixes.push_back(anchored.front());
  const std::string common = common_start(sources);
  for (std::size_t dot = common.find('.'); dot != std::string::npos;
       dot = common.find('.', dot + 1))
    prefixes.push_back(common.substr(0, dot + 1));
  return prefixes;
}

// Assigns datasets to parameters, using the first prefix that finds the most parameters.
WeightSources sources_in(const WeightLayout& layout, const ModelWeights& model, Sources sources,
                         bool anywhere) {
  const auto in_model = [&](const std::string& name) {
    return layout.rewrites_model ? layout.weights_in(name).front().name : name;
  };
  WeightSources result{&layout};
  Names& parameters = result.names;
  for (const ModelWeight& weight : model.all) parameters.push_back(in_model(weight.name));
  for (const std::string& prefix : anywhere ? prefixes_of(sources, layout) : Names{""}) {
    const auto count = static_cast<std::size_t>(std::ranges::count_if(
        parameters, [&](const std::string& name) { return sources.contains(prefix + name); }));
    if (count <= result.parameters) continue;
    result.prefix = prefix;
    result.parameters = count;
  }

  const auto take = [&](const std::string& name, std::size_t index) {
    const auto entry = sources.find(result.prefix + name);
    if (entry == sources.end()) return;
    const auto next = std::next(entry);
    if (next != sources.end() && next->first == entry->first)
      result.ambiguous.push_back(str_cat(entry->first, ": ", entry->second, " and ", next->second));
    result.found.push_back({index, entry->second});
    sources.erase(entry);
  };
  for (std::size_t i = 0; i < parameters.size(); ++i) take(parameters[i], i);
  std::map<std::string, std::size_t> tied;
  for (const auto& [name, parameter] : model.tied) tied.emplace(in_model(name), parameter);
  for (const auto& [dataset, copy] : layout.copies)
    if (const auto own = std::ranges::find(parameters, layout.weights_in(dataset).front().name);
        own != parameters.end())
      tied.emplace(layout.weights_in(copy).front().name, own - parameters.begin());
  for (const auto& [name, parameter] : tied) take(name, parameter);
  std::ranges::stable_sort(result.found, {}, &FoundWeight::index);
  std::set<std::string> datasets;
  for (const auto& [name, source] : sources) {
    if (!datasets.insert(source.dataset).second) continue;
    if (name.starts_with(result.prefix) && !source.weight.is_optional)
      result.unexpected.push_back(source);
    else
      result.unused.push_back(source.dataset);
  }
  std::ranges::sort(result.unexpected, {}, &WeightSource::dataset);
  std::ranges::sort(result.unused);
  return result;
}

// Returns the name of the layer that contains a weight; "" if the weight is the model's own.
std::string layer_of(const std::string& weight) {
  return weight.substr(0, std::max<std::size_t>(weight.rfind('.') + 1, 1) - 1);
}

void add_once(std::string name, Names& names) {
  if (std::ranges::count(names, name) == 0) names.push_back(std::move(name));
}

// Assigns the layers of a file with weights to those of the model, by order. Returns the model's
// layer of each dataset. `first_weight` returns the name of a weight in a dataset.
template <class FirstWeight>
std::map<std::string, std::string> layers_in_order(const TensorFile& file,
                                                   const KerasLayerNames& order,
                                                   const ModelWeights& model,
                                                   const FirstWeight& first_weight) {
  std::map<std::string, std::string> layers;
  Names in_file, in_model;
  for (const auto& [group, datasets] : order)
    for (const std::string& dataset : datasets) {
      // A model within the model is one group with several layers.
      const std::string layer = layer_of(first_weight(dataset));
      layers[dataset] = layer.empty() ? group : group + '/' + layer;
      add_once(layers[dataset], in_file);
    }
  for (const ModelWeight& weight : model.all) add_once(layer_of(weight.name), in_model);
  const auto listed = [](const Names& names) {
    return str_cat(names.size(), " (", first_of(names, 20), ")");
  };
  if (in_file.size() != in_model.size())
    fail_on_file(file.path(), "as many layers with weights as in the model, " + listed(in_model),
                 listed(in_file));
  for (auto& [dataset, layer] : layers)
    layer = in_model[static_cast<std::size_t>(std::ranges::find(in_file, layer) - in_file.begin())];
  return layers;
}

}  // namespace

std::string ModelWeight::unknown_in(const WeightLayout& layout, const WeightPart& part,
                                    const Shape& dataset) const {
  // Keras stores the biases for inputs and for states in one dataset.
  const bool is_of_cell = layout.has_keras_cells && (is_linear || part.parts == 2);
  if (layout.splits_axes &&
      ((is_recurrent(layer) && !is_of_cell) || (!layout.has_keras_cells && is_kernel())))
    return "weights of a " + layer;
  // CuDNNLSTM and CuDNNGRU store both biases in one row, and their weights in a different order.
  if (layout.has_keras_cells && part.parts == 2 && dataset == Shape{2 * shape.elements()})
    return "weights of a CuDNN layer";
  if (layout.packs_by_head && part.parts > 1 && heads == 0)
    return "weights outside of attention, without a number of heads";
  return "";
}

StoredForm ModelWeight::form(const WeightLayout& layout, const WeightPart& part) const {
  StoredForm form{.parameter = shape,
                  .is_transposed = is_linear && part.is_transposed,
                  .is_reversed = layout.has_keras_cells && is_kernel(),
                  .splits_axes = layout.splits_axes,
                  .parts = part.parts,
                  .own = {part.part}};
  if (layout.has_keras_cells && layer == "GRU") {
    // Keras stores the gate z before r.
    form.own = {3 * part.part + 1, 3 * part.part, 3 * part.part + 2};
    form.parts = 3 * part.parts;
  } else if (layout.packs_by_head && part.parts > 1) {
    form.parts = part.parts * heads;
    form.own.clear();
    for (Index head = 0; head < heads; ++head) form.own.push_back(head * part.parts + part.part);
  } else {
    form.may_be_zero = layout.has_keras_cells && is_recurrent(layer);
  }
  return form;
}

template <class T>
ModelWeights::ModelWeights(const Module<T>& model) {
  Layers<T> layers;
  layers.enter(model);
  for (const auto& [name, parameter] : named_parameters(model)) {
    const auto& [layer, own_name, heads] = layers.places.at(parameter);
    all.push_back({name, parameter->shape(), is_linear(layer, own_name), layer, heads});
  }
  has_interleaved_pairs = layers.has_interleaved_pairs;
  for (const auto& [name, buffer] : named_buffers(model)) all.push_back({name, buffer->shape()});
  for (const auto& [name, first] : tied_names(model))
    tied.emplace(name, static_cast<std::size_t>(std::ranges::find(all, first, &ModelWeight::name) -
                                                all.begin()));
}

template ModelWeights::ModelWeights(const Module<float>&);
template ModelWeights::ModelWeights(const Module<double>&);

void check_rotary_pairs(const std::string& what, const ModelWeights& model,
                        const WeightLayout& layout) {
  if (layout.has_rotary_halves && model.has_interleaved_pairs)
    fail<ValueError>(what, "RotaryPairs::halves, as in the layout " + layout.name,
                     "RotaryPairs::interleaved");
}

std::ostream& operator<<(std::ostream& out, const WeightSource& source) {
  out << source.dataset;
  const WeightPart& weight = source.weight;
  if (weight.parts > 1) out << ", part " << weight.part + 1 << " of " << weight.parts;
  return out;
}

const WeightLayout* marked_layout(const TensorFile& file, const PathsByName& paths) {
  for (const WeightLayout& layout : weight_layouts())
    if (has_mark(layout, file, paths)) return &layout;
  return nullptr;
}

WeightSources find_weight_sources(const ModelWeights& model, const TensorFile& file,
                                  const PathsByName& paths,
                                  const std::function<std::string(std::string name)>& rename,
                                  bool anywhere, const KerasLayerNames& order) {
  std::optional<WeightSources> best;
  for (const WeightLayout& layout : weight_layouts()) {
    if (best && best->parameters == model.all.size()) break;
    if (!layout.marks.empty() && !has_mark(layout, file, paths)) continue;
    Sources sources;
    const auto weights_in = [&](const std::string& dataset) {
      return layout.weights_in(layout.has_keras_cells ? in_keras_3_cell(dataset, paths) : dataset);
    };
    std::map<std::string, std::string> layers;
    if (layout.has_keras_cells && !order.empty())
      layers = layers_in_order(file, order, model, [&](const std::string& dataset) {
        return weights_in(dataset).front().name;
      });
    for (const auto& [dataset, path] : paths)
      for (WeightPart& weight : weights_in(dataset)) {
        if (const auto layer = layers.find(dataset); layer != layers.end()) {
          const std::string own = weight.name.substr(weight.name.rfind('.') + 1);
          weight.name = layer->second.empty() ? own : layer->second + '.' + own;
        }
        weight.name = rename(weight.name);
        sources.emplace(weight.name, WeightSource{weight, dataset, path});
      }
    WeightSources candidate = sources_in(layout, model, std::move(sources), anywhere);
    // If no parameter is found, the message lists the names of a layout with a mark.
    const bool is_better =
        !best || candidate.parameters > best->parameters ||
        (best->parameters == 0 && best->layout->marks.empty() && !layout.marks.empty());
    if (is_better) best = std::move(candidate);
  }
  return *std::move(best);
}

}  // namespace weft
