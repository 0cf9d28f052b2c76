// snapshot: remembers the state of a model and other objects, and restores it.
#pragma once

#include <functional>
#include <type_traits>

#include "weft/train/weights/checkpoint.hpp"

namespace weft {

// The parameters and buffers of a model as state. Loading assigns them to the model.
template <class T>
class ModelState final : public Stateful<T> {
 public:
  explicit ModelState(Module<T>& model)
      : parameters_(named_parameters(model)), buffers_(named_buffers(model)) {}
  void state(State<T>& state) override {
    for (const auto& [name, parameter] : parameters_) {
      Tensor<T> value = parameter->value();
      state.tensor(name, value);
      parameter->set_value(std::move(value));
    }
    for (const auto& [name, buffer] : buffers_) state.tensor(name, *buffer);
  }

 private:
  NamedParameters<T> parameters_;
  NamedBuffers<T> buffers_;
};

// Returns a function that restores the present state of a model and other objects, any number of
// times; the objects must outlive it. A tensor is copied only if it changes.
template <class T>
std::function<void()> snapshot(Module<T>& model,
                               const std::type_identity_t<NamedStates<T>>& states = {});

}  // namespace weft
