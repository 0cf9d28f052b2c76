#include "train/weights/internal/model_weights.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "train/weights/internal/name_pattern.hpp"

namespace weft {
namespace {

// Collects the weights that are registered by a linear layer first.
template <class T>
class LinearWeights final : public Members<T> {
 public:
  void type(const std::string& name, const std::string&) override { type_ = name; }
  void parameter(const std::string& name, Parameter<T>& parameter) override {
    if (seen_.insert(&parameter).second && type_ == "Linear" && name == "weight")
      found.insert(&parameter);
  }
  void child(const std::string&, Module<T>& child) override {
    const std::string outer = std::exchange(type_, "");
    child.members(*this);
    type_ = outer;
  }

  std::unordered_set<const Parameter<T>*> found;

 private:
  std::unordered_set<const Parameter<T>*> seen_;
  std::string type_;
};

}  // namespace

template <class T>
void ModelWeight<T>::set_value(Tensor<T> value) const {
  if (parameter)
    parameter->set_value(std::move(value));
  else
    *buffer = std::move(value);
}

template <class T>
StoredForm ModelWeight<T>::form(const WeightLayout& layout, const std::string& dataset, Index part,
                                Index parts) const {
  return {.parameter = shape(),
          .is_transposed =
              is_linear && layout.transposes_linear && !is_one_of(layout.not_transposed, dataset),
          .splits_axes = layout.splits_axes,
          .part = part,
          .parts = parts};
}

template <class T>
ModelWeights<T>::ModelWeights(Module<T>& model) {
  LinearWeights<T> linear;
  model.members(linear);
  for (const auto& [name, parameter] : named_parameters(model))
    all.push_back({name, parameter, nullptr, linear.found.contains(parameter)});
  for (const auto& [name, buffer] : named_buffers(model)) all.push_back({name, nullptr, buffer});
  for (const auto& [name, first] : tied_names(model))
    tied.emplace(name, static_cast<std::size_t>(
                           std::ranges::find(all, first, &ModelWeight<T>::name) - all.begin()));
}

template struct ModelWeight<float>;
template struct ModelWeight<double>;
template struct ModelWeights<float>;
template struct ModelWeights<double>;

}  // namespace weft
