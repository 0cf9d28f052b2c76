// visit_state: calls a function with each value that an object registers as its state.
#pragma once

#include <cstdint>
#include <string>

#include "weft/train/weights/state.hpp"

namespace weft {

// Calls use(name, value) for each value that `object` registers. `value` is a Tensor<T>&,
// std::int64_t&, bool&, double&, std::string& or Tensor<std::int32_t>&.
template <class T, class Use>
void visit_state(Stateful<T>& object, const Use& use) {
  struct Visitor final : State<T> {
    explicit Visitor(const Use& function) : use(function) {}
    void tensor(const std::string& name, Tensor<T>& value) override { use(name, value); }
    void integer(const std::string& name, std::int64_t& value) override { use(name, value); }
    void flag(const std::string& name, bool& value) override { use(name, value); }
    void number(const std::string& name, double& value) override { use(name, value); }
    void text(const std::string& name, std::string& value) override { use(name, value); }
    void list(const std::string& name, Tensor<std::int32_t>& values) override { use(name, values); }
    const Use& use;
  } visitor(use);
  object.state(visitor);
}

}  // namespace weft
