#include "train/report/internal/layer_names.hpp"

#include <algorithm>

#include "weft/layers/freeze.hpp"

namespace weft {

template <class T>
class LayerNames::Collector final : public Members<T> {
 public:
  Collector(LayerNames& names, int layer) : names_(names), layer_(layer) {}

  void type(const std::string& name, const std::string&) override { own().type = name; }
  void parameter(const std::string&, const Parameter<T>& parameter) override {
    if (!names_.of_parameter_.emplace(&parameter, layer_).second) return;
    own().parameters += parameter.size();
    if (parameter.requires_grad()) own().trained += parameter.size();
  }
  void child(const std::string& name, const Module<T>& child) override {
    const int number = names_.size();
    const bool is_element = std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
    names_.layers_.push_back(
        {layer_ == 0 ? name : own().name + "." + name, "", layer_, 0, 0, is_element});
    Collector members(names_, number);
    child.members(members);
    const Layer& inner = members.own();
    own().parameters += inner.parameters;
    own().trained += inner.trained;
  }

 private:
  Layer& own() { return names_.layers_[static_cast<std::size_t>(layer_)]; }

  LayerNames& names_;
  int layer_;
};

template <class T>
LayerNames::LayerNames(const Module<T>& model) : element_size_(sizeof(T)) {
  layers_.push_back({"", "", -1});
  Collector<T> members(*this, 0);
  whole_model(model).members(members);
}

std::string LayerNames::description(int layer) const {
  const Layer& own = layers_[static_cast<std::size_t>(layer)];
  return own.type + (own.parameters > 0 && own.trained == 0 ? ", frozen" : "");
}

int LayerNames::of_parameter(const void* parameter) const {
  const auto found = of_parameter_.find(parameter);
  return found == of_parameter_.end() ? -1 : found->second;
}

int LayerNames::common(int first, int second) const {
  int element = -1;  // the layer inside the present `first` that contains the original `first`
  while (first != second) {
    if (first > second) {
      element = first;
      first = parent(first);
    } else {
      second = parent(second);
    }
  }
  return element >= 0 && layers_[static_cast<std::size_t>(element)].is_element ? element : first;
}

std::string LayerNames::pattern(int layer) const {
  if (layer == 0) return "";
  const Layer& own = layers_[static_cast<std::size_t>(layer)];
  const std::string around = pattern(own.parent);
  const std::string last = own.is_element ? "*" : own.name.substr(own.name.rfind('.') + 1);
  return around.empty() ? last : around + "." + last;
}

std::string LayerNames::indented(int layer) const {
  if (layer == 0) return "model";
  std::size_t depth = 0;
  for (int around = layer; around > 0; around = parent(around))
    if (type(around) != "ModuleList") ++depth;
  const std::string name = pattern(layer);
  std::size_t last = name.rfind('.');
  // For an element of a list, also shows the name of the list.
  if (name.ends_with(".*")) last = name.rfind('.', last - 1);
  return std::string(2 * depth, ' ') + name.substr(last + 1);
}

template LayerNames::LayerNames(const Module<float>&);
template LayerNames::LayerNames(const Module<double>&);

}  // namespace weft
