// State: what a checkpoint keeps of an object beside a model's parameters.
#pragma once

#include <cstdint>
#include <string>

#include "weft/autograd/tensor.hpp"

namespace weft {

// Receives, by reference, everything that must survive a restart. Saving reads through the
// references; loading writes through them, after everything in the file was read and checked.
template <class T = float>
class State {
 public:
  virtual ~State() = default;

  // A tensor whose shape is already the one expected.
  virtual void tensor(const std::string& name, Tensor<T>& value) = 0;
  virtual void integer(const std::string& name, std::int64_t& value) = 0;
  virtual void number(const std::string& name, double& value) = 0;
  virtual void text(const std::string& name, std::string& value) = 0;
};

// Something with state: an optimizer, the progress of training, a configuration.
template <class T = float>
class Stateful {
 public:
  virtual ~Stateful() = default;
  // Names everything that must survive a restart, once and always in the same order.
  virtual void state(State<T>& state) = 0;
  // Throws ValueError when the values just loaded make no sense (a negative step, say); the loader
  // then puts the old ones back.
  virtual void check_state() const {}
};

}  // namespace weft
