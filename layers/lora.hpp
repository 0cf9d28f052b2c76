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

// A low-rank adapter of a linear layer: `y = W x + alpha / rank · B A dropout(x)` (Hu et al.,
// 2021). Parameters are named and initialized as in PEFT: A uniformly over ±1/√in_features, and B
// with zeros, so that a new adapter does not change the result.
//   add_lora(model, {.rank = 4}, [](const std::string& name) { return name.ends_with("W_q"); },
//            random);
//   merge_lora(model);  // after training
template <class T = float>
class WEFT_API Lora final : public LinearAdapter<T> {
 public:
  // Throws ValueError unless rank > 0, alpha is finite and 0 ≤ dropout < 1.
  Lora(const Linear<T>& linear, const LoraOptions& options, Random& random);

  // Maps x [..., in_features] to [..., out_features], where `linear` is the adapted layer. Throws
  // ShapeError if the last axis of x has a different size.
  Var<T> operator()(const Linear<T>& linear, const Var<T>& x) const override;
  std::unique_ptr<LinearAdapter<T>> clone() const override { return std::make_unique<Lora>(*this); }
  void members(Members<T>& members) const override;

  // Returns the change of the weight, `alpha / rank · B A`, [out_features, in_features].
  Tensor<T> product() const;
  const LoraOptions& options() const { return options_; }  // the options passed to the constructor

  Parameter<T> a;  // [rank, in_features]
  Parameter<T> b;  // [out_features, rank]

 private:
  LoraOptions options_;
};

// A linear layer and its full name in a model.
template <class T = float>
struct NamedLinear {
  std::string name;   // the full name, such as "blocks.0.attention.W_q"
  Linear<T>* linear;  // not null
};

// Returns all linear layers of a model, each with its full name, in the order in which the modules
// register them. A layer with several names is listed once, under its first name.
template <class T>
WEFT_API std::vector<NamedLinear<T>> named_linear_layers(Module<T>& model);

// Suspends the gradients of all parameters (see Parameter::suspend_grad), before adapters are
// added: the parameters are not trained until `merge_lora`, `remove_lora` or `unfreeze`.
template <class T>
WEFT_API void suspend_gradients(Module<T>& model);

// Adds an adapter to each linear layer whose full name `filter` selects, and suspends the gradients
// of all other parameters. A layer with several names is selected by any of them. Returns the
// number of adapters. Throws ValueError if no layer is selected, if a selected layer already has an
// adapter, if `filter` is empty, and for options that Lora rejects.
template <class T>
WEFT_API Index add_lora(Module<T>& model, const LoraOptions& options, const NameFilter& filter,
                        Random& random);

// Adds the product of each adapter to the weight of its layer, and removes the adapters. The
// parameters that were trainable before `add_lora` are trainable again. Returns the number of
// adapters. Optimizers of the adapters' parameters can no longer be used: they throw Error.
template <class T>
WEFT_API Index merge_lora(Module<T>& model);
// Removes the adapters without merging them. The parameters that were trainable before `add_lora`
// are trainable again. Returns the number of adapters. Optimizers of the adapters' parameters can
// no longer be used: they throw Error.
template <class T>
WEFT_API Index remove_lora(Module<T>& model);

extern template class Lora<float>;
extern template class Lora<double>;

}  // namespace weft
