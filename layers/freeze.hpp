// freeze and unfreeze: choose which parameters of a model are trained; TrainableParameters: a view
// of the trainable parameters.
#pragma once

#include <string>

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"
#include "weft/layers/name_filter.hpp"

namespace weft {

namespace detail {
// Sets requires_grad of the parameters that `filter` selects. Messages of exceptions start with
// `what`.
template <class T>
WEFT_API Index set_requires_grad(Module<T>& module, const NameFilter& filter, bool requires_grad,
                                 const std::string& what);
}  // namespace detail

// Excludes parameters from training (torch's requires_grad_(False)): optimizers leave them
// unchanged, and backward skips whatever only their gradients need. Clears their gradients. Selects
// parameters by `filter`, or by `name`: a parameter, or all parameters of a child such as
// "encoder.0". A parameter with several names (tied weights) is selected by any of them. Returns
// the number of selected tensors. Throws ValueError if no parameter is selected, or if `filter` is
// empty.
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

// Makes parameters trainable again: the inverse of `freeze`. Returns the number of selected
// tensors. Throws the same exceptions as `freeze`.
template <class T>
Index unfreeze(Module<T>& module, const NameFilter& filter = every_name) {
  return detail::set_requires_grad(module, filter, true, "unfreeze");
}
template <class T>
Index unfreeze(Module<T>& module, const std::string& name) {
  return detail::set_requires_grad(module, below(name), true, "unfreeze " + name);
}

// A view of a model that contains only its trainable parameters, under all of their names. An
// optimizer and a trainer that use the view instead of the model save only these parameters. The
// model must outlive the view.
//   TrainableParameters head(model);
//   AdamW head_optimizer(head, {.lr = 1e-3});
template <class T = float>
class WEFT_API TrainableParameters final : public Module<T> {
 public:
  explicit TrainableParameters(Module<T>& model) : model_(model) {}  // refers to `model`
  void members(Members<T>& members) const override;
  const Module<T>& model() const { return model_; }  // the model, including its frozen parameters

 private:
  const Module<T>& model_;
};

// Returns the model that a TrainableParameters refers to, and any other module itself.
template <class T>
const Module<T>& whole_model(const Module<T>& module) {
  const auto* const part = dynamic_cast<const TrainableParameters<T>*>(&module);
  return part ? part->model() : module;
}

extern template class TrainableParameters<float>;
extern template class TrainableParameters<double>;

}  // namespace weft
