#include "train/weights/internal/model_weights.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "train/weights/internal/name_pattern.hpp"

namespace weft {
namespace {

// Collects the type of the layer that registers a parameter first, and its name there.
template <class T>
class Layers final : public Members<T> {
 public:
  struct Place {
    std::string type, name;
  };

  void type(const std::string& name, const std::string&) override { type_ = name; }
  void parameter(const std::string& name, const Parameter<T>& parameter) override {
    places.try_emplace(&parameter, Place{type_, name});
  }
  void child(const std::string&, const Module<T>& child) override {
    const std::string outer = std::exchange(type_, "");
    child.members(*this);
    type_ = outer;
  }

  std::unordered_map<const Parameter<T>*, Place> places;

 private:
  std::string type_;
};

bool is_recurrent(const std::string& layer) {
  return layer == "GRU" || layer == "LSTM" || layer == "RNN";
}

bool is_linear(const std::string& layer, const std::string& name) {
  return layer == "Linear" ? name == "weight" : is_recurrent(layer) && name.starts_with("weight_");
}

}  // namespace

template <class T>
StoredForm ModelWeight<T>::form(const WeightLayout& layout, const std::string& dataset, Index part,
                                Index parts) const {
  const auto order = std::ranges::find(layout.gate_orders, layer, &GateOrder::layer);
  return {.parameter = value->shape(),
          .is_transposed =
              is_linear && layout.transposes_linear && !is_one_of(layout.not_transposed, dataset),
          .splits_axes = layout.splits_axes,
          .part = part,
          .parts = parts,
          .order = order == layout.gate_orders.end() ? std::vector<Index>() : order->gates,
          .may_be_zero = is_one_of(layout.layers_with_one_bias, layer)};
}

template <class T>
ModelWeights<T>::ModelWeights(const Module<T>& model) {
  Layers<T> layers;
  model.members(layers);
  for (const auto& [name, parameter] : named_parameters(model)) {
    const auto& [layer, own_name] = layers.places.at(parameter);
    all.push_back({name, &parameter->value(), is_linear(layer, own_name), layer});
  }
  for (const auto& [name, buffer] : named_buffers(model)) all.push_back({name, buffer});
  for (const auto& [name, first] : tied_names(model))
    tied.emplace(name, static_cast<std::size_t>(
                           std::ranges::find(all, first, &ModelWeight<T>::name) - all.begin()));
}

template struct ModelWeight<float>;
template struct ModelWeight<double>;
template struct ModelWeights<float>;
template struct ModelWeights<double>;

}  // namespace weft
