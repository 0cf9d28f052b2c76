#include "train/weights/internal/model_weights.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

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

StoredForm ModelWeight::form(const WeightLayout& layout, const WeightPart& part) const {
  StoredForm form{.parameter = shape,
                  .is_transposed = is_linear && part.is_transposed,
                  .splits_axes = layout.splits_axes,
                  .parts = part.parts,
                  .own = {part.part}};
  if (layout.has_keras_cells && layer == "GRU") {
    // Keras has the gate z before r.
    form.own = {3 * part.part + 1, 3 * part.part, 3 * part.part + 2};
    form.parts = 3 * part.parts;
  } else {
    form.may_be_zero = layout.has_keras_cells && is_recurrent(layer);
  }
  return form;
}

template <class T>
ModelWeights::ModelWeights(const Module<T>& model) {
  Layers<T> layers;
  model.members(layers);
  for (const auto& [name, parameter] : named_parameters(model)) {
    const auto& [layer, own_name] = layers.places.at(parameter);
    all.push_back({name, parameter->shape(), is_linear(layer, own_name), layer});
  }
  for (const auto& [name, buffer] : named_buffers(model)) all.push_back({name, buffer->shape()});
  for (const auto& [name, first] : tied_names(model))
    tied.emplace(name, static_cast<std::size_t>(std::ranges::find(all, first, &ModelWeight::name) -
                                                all.begin()));
}

template ModelWeights::ModelWeights(const Module<float>&);
template ModelWeights::ModelWeights(const Module<double>&);

}  // namespace weft
