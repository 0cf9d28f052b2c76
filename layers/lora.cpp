#include "weft/layers/lora.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/dropout.hpp"
#include "weft/autograd/ops/linear.hpp"
#include "weft/autograd/ops/matmul.hpp"
#include "layers/internal/checks.hpp"
#include "layers/internal/full_names.hpp"

namespace weft {
namespace {

template <class T>
class LinearLayers final : public FullNames<T> {
 public:
  void child(const std::string& name, const Module<T>& child) override {
    // The members of a non-const module are not const either.
    if (const auto* linear = dynamic_cast<const Linear<T>*>(&child)) {
      std::vector<std::string>& all = names[linear];
      all.push_back(this->full_name(name));
      if (all.size() == 1) layers.push_back({all.front(), const_cast<Linear<T>*>(linear)});
    }
    FullNames<T>::child(name, child);
  }

  std::vector<NamedLinear<T>> layers;  // each listed once, under its first name
  std::unordered_map<const Linear<T>*, std::vector<std::string>> names;
};

template <class T>
Lora<T>* lora_of(const Linear<T>& linear) {
  return dynamic_cast<Lora<T>*>(linear.map.get());
}

const LoraOptions& checked(const LoraOptions& options) {
  check_positive("Lora: rank", options.rank);
  if (!std::isfinite(options.alpha))
    fail<ValueError>("Lora: alpha", "a finite number", options.alpha);
  if (!(options.dropout >= 0.0 && options.dropout < 1.0))
    fail<ValueError>("Lora: dropout", "0 ≤ dropout < 1", options.dropout);
  return options;
}

// Calls use(linear, adapter) for each adapter, removes it, and ends the suspension of gradients.
template <class T, class Use>
Index take_lora(Module<T>& model, const Use& use) {
  Index count = 0;
  for (const auto& [name, linear] : named_linear_layers(model))
    if (const Lora<T>* lora = lora_of(*linear)) {
      use(*linear, *lora);
      linear->map.reset();
      ++count;
    }
  for (const auto& [name, parameter] : named_parameters(model)) parameter->resume_grad();
  return count;
}

}  // namespace

template <class T>
Lora<T>::Lora(const Linear<T>& linear, const LoraOptions& options, Random& random)
    : options_(checked(options)) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(linear.in_features()));
  a = Parameter<T>(random.uniform_tensor<T>({options.rank, linear.in_features()}, -bound, bound));
  b = Parameter<T>(Tensor<T>({linear.out_features(), options.rank}));
}

template <class T>
Var<T> Lora<T>::operator()(const Linear<T>& linear, const Var<T>& x) const {
  Tape<T>& tape = x.tape();
  const Var<T> low = weft::linear(dropout(x, options_.dropout), tape.parameter(a));
  const auto factor = static_cast<T>(options_.alpha / static_cast<double>(options_.rank));
  return linear.own(x) + weft::linear(scale(low, factor), tape.parameter(b));
}

template <class T>
void Lora<T>::members(Members<T>& members) const {
  members("lora_A.weight", a);
  members("lora_B.weight", b);
}

template <class T>
Tensor<T> Lora<T>::product() const {
  Tape<T> tape = Tape<T>::inference();
  const auto factor = static_cast<T>(options_.alpha / static_cast<double>(options_.rank));
  return scale(matmul(tape.constant(b.value()), tape.constant(a.value())), factor).value();
}

template <class T>
std::vector<NamedLinear<T>> named_linear_layers(Module<T>& model) {
  LinearLayers<T> found;
  model.members(found);
  return std::move(found.layers);
}

template <class T>
void suspend_gradients(Module<T>& model) {
  for (const auto& [name, parameter] : named_parameters(model)) parameter->suspend_grad();
}

template <class T>
Index add_lora(Module<T>& model, const LoraOptions& options, const NameFilter& filter,
               Random& random) {
  check_function("add_lora: filter", filter);
  LinearLayers<T> found;
  model.members(found);
  std::vector<NamedLinear<T>> chosen;
  for (const NamedLinear<T>& layer : found.layers) {
    if (!std::ranges::any_of(found.names.at(layer.linear), filter)) continue;
    if (layer.linear->map)
      fail<ValueError>("add_lora: " + layer.name, "a linear layer without an adapter",
                       "a layer that has an adapter");
    chosen.push_back(layer);
  }
  if (chosen.empty()) fail<ValueError>("add_lora", "at least one selected linear layer", 0);
  checked(options);
  suspend_gradients(model);
  for (const auto& [name, linear] : chosen)
    linear->map = std::make_unique<Lora<T>>(*linear, options, random);
  return std::ssize(chosen);
}

template <class T>
Index merge_lora(Module<T>& model) {
  return take_lora(model, [](Linear<T>& linear, const Lora<T>& lora) {
    Tape<T> tape = Tape<T>::inference();
    linear.weight.set_value(
        (tape.constant(linear.weight.value()) + tape.constant(lora.product())).value());
  });
}

template <class T>
Index remove_lora(Module<T>& model) {
  return take_lora(model, [](Linear<T>&, const Lora<T>&) {});
}

template class Lora<float>;
template class Lora<double>;
template std::vector<NamedLinear<float>> named_linear_layers(Module<float>&);
template std::vector<NamedLinear<double>> named_linear_layers(Module<double>&);
template void suspend_gradients(Module<float>&);
template void suspend_gradients(Module<double>&);
template Index add_lora(Module<float>&, const LoraOptions&, const NameFilter&, Random&);
template Index add_lora(Module<double>&, const LoraOptions&, const NameFilter&, Random&);
template Index merge_lora(Module<float>&);
template Index merge_lora(Module<double>&);
template Index remove_lora(Module<float>&);
template Index remove_lora(Module<double>&);

}  // namespace weft
