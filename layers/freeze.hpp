// freeze: keeps parameters of a model at their values, for fine-tuning the others;
// TrainableParameters: these others alone.
#pragma once

#include <string>

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"
#include "weft/layers/name_filter.hpp"

namespace weft {

namespace detail {
// `what` is the start of an error message.
template <class T>
WEFT_API Index set_requires_grad(Module<T>& module, const NameFilter& filter, bool requires_grad,
                                 const std::string& what);
}  // namespace detail

// Parameters of the module get no gradient (torch's requires_grad_(False)): optimizers keep them as
// they are, and backward does not compute what only they would need. `name` is that of a parameter
// or of a child, "encoder.0" for instance, with all parameters below it. A parameter with several
// names (tied weights) is selected by any of them. Their gradients are cleared. Returns the number
// of tensors. Throws ValueError if no parameter has that name or is selected by the filter.
//   freeze(model);
//   unfreeze(model, "output");  // trains the head only
template <class T>
Index freeze(Module<T>& module, const NameFilter& filter = every_name) {
  return detail::set_requires_grad(module, filter, false, "freeze");
}
template <class T>
Index freeze(Module<T>& module, const std::string& name) {
  return detail::set_requires_grad(module, below(name), false, "freeze " + name);
}

// The inverse of `freeze`: parameters get gradients again. Returns the number of tensors, and
// throws as `freeze` does.
template <class T>
Index unfreeze(Module<T>& module, const NameFilter& filter = every_name) {
  return detail::set_requires_grad(module, filter, true, "unfreeze");
}
template <class T>
Index unfreeze(Module<T>& module, const std::string& name) {
  return detail::set_requires_grad(module, below(name), true, "unfreeze " + name);
}

// The parameters of a model that are not frozen, under all of their names, and nothing else: an
// optimizer and a trainer that have it in the model's place save only these. The model must outlive
// it.
//   TrainableParameters head(model);
//   AdamW head_optimizer(head, {.lr = 1e-3});
template <class T = float>
class WEFT_API TrainableParameters final : public Module<T> {
 public:
  explicit TrainableParameters(Module<T>& model) : model_(model) {}  // of this model
  void members(Members<T>& members) const override;
  const Module<T>& model() const { return model_; }  // with what is frozen

 private:
  const Module<T>& model_;
};

// The model itself, for the parameters of a model that are not frozen; otherwise the module.
template <class T>
const Module<T>& whole_model(const Module<T>& module) {
  const auto* const part = dynamic_cast<const TrainableParameters<T>*>(&module);
  return part ? part->model() : module;
}

extern template class TrainableParameters<float>;
extern template class TrainableParameters<double>;

}  // namespace weft
