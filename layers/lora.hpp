// Lora: low-rank adapters of linear layers, to fine-tune a model with few parameters.
#pragma once

#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/layers/linear.hpp"
#include "weft/layers/name_filter.hpp"

namespace weft {

struct LoraOptions {
  // The rank of the adapters.
  Index rank = 8;
  // The result of an adapter is multiplied by alpha / rank.
  double alpha = 16.0;
  // The probability of dropping an element of an adapter's input.
  double dropout = 0.0;
};

// `y = W x + alpha / rank · B A dropout(x)` (Hu et al., 2021), with the names of PEFT. A is
// initialized uniformly over ±1/√in_features and B with zeros, as there, so that at first nothing
// changes.
//   add_lora(model, {.rank = 4}, [](const std::string& name) { return name.ends_with("W_q"); },
//   random); merge_lora(model);  // after training
template <class T = float>
class WEFT_API Lora final : public LinearAdapter<T> {
 public:
  // Throws ValueError unless rank > 0, alpha is finite and 0 ≤ dropout < 1.
  Lora(const Linear<T>& linear, const LoraOptions& options, Random& random);

  // x [..., in_features], result [..., out_features]. Throws ShapeError.
  Var<T> operator()(const Linear<T>& linear, const Var<T>& x) const override;
  std::unique_ptr<LinearAdapter<T>> clone() const override { return std::make_unique<Lora>(*this); }
  void members(Members<T>& members) const override;

  // `alpha / rank · B A`, [out_features, in_features].
  Tensor<T> product() const;
  const LoraOptions& options() const { return options_; }  // those it was made with

  Parameter<T> a;  // [rank, in_features]
  Parameter<T> b;  // [out_features, rank]

 private:
  LoraOptions options_;
};

// A linear layer under its full name in a model.
template <class T = float>
struct NamedLinear {
  std::string name;   // "blocks.0.attention.W_q"
  Linear<T>* linear;  // not null
};

// All linear layers of a model, as named_parameters lists parameters.
template <class T>
WEFT_API std::vector<NamedLinear<T>> named_linear_layers(Module<T>& model);

// Suspends the gradients of all parameters (see Parameter::suspend_grad), as for adapters that
// follow: until `merge_lora` or `remove_lora`, or `unfreeze`, they are not trained.
template <class T>
WEFT_API void suspend_gradients(Module<T>& model);

// Gives the linear layers whose names `filter` selects adapters, and suspends the gradients of all
// other parameters. A layer that the model registers under several names is selected by any of
// them. Returns the number of layers. Throws ValueError when there are none, or one has an adapter
// already, for an empty filter, and for options that Lora rejects.
template <class T>
WEFT_API Index add_lora(Module<T>& model, const LoraOptions& options, const NameFilter& filter,
                        Random& random);

// Adds each adapter's product to the weight of its layer and removes the adapter: the same model
// without adapters, in which the same parameters are trainable as before `add_lora`. Returns the
// number of adapters. Optimizers of the adapters' parameters throw Error from then on.
template <class T>
WEFT_API Index merge_lora(Module<T>& model);
// Removes the adapters: the model as it was before `add_lora`, with the same trainable parameters.
// Returns the number of adapters. Optimizers of their parameters throw Error from then on.
template <class T>
WEFT_API Index remove_lora(Module<T>& model);

extern template class Lora<float>;
extern template class Lora<double>;

}  // namespace weft
