// State: the interface that checkpoints use to save and load objects.
#pragma once

#include <cstdint>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

// Receives references to all values of an object that belong in a checkpoint. Saving reads the
// referenced values. Loading writes to them, after the file has been read and checked completely.
template <class T = float>
class WEFT_API State {
 public:
  virtual ~State() = default;

  // Registers a tensor, which must already have the expected shape.
  virtual void tensor(const std::string& name, Tensor<T>& value) = 0;
  // Registers an integer.
  virtual void integer(const std::string& name, std::int64_t& value) = 0;
  // Registers a bool, stored as the integer 0 or 1.
  virtual void flag(const std::string& name, bool& value) = 0;
  // Registers a real number.
  virtual void number(const std::string& name, double& value) = 0;
  // Registers a string without NUL.
  virtual void text(const std::string& name, std::string& value) = 0;
  // Registers a list of integers [n], which must already have the expected length n. It is saved
  // only if it contains a value other than 0. If the checkpoint does not contain the list, loading
  // sets all values to 0. Visitors that neither save nor load may ignore it.
  virtual void list(const std::string& /*name*/, Tensor<std::int32_t>& /*values*/) {}
};

// An object with state: an optimizer, the progress of training, a configuration.
//   struct Configuration : Stateful<> {
//     void state(State<>& state) override { state.integer("num_heads", num_heads); }
//     std::int64_t num_heads = 4;
//   };
template <class T = float>
class WEFT_API Stateful {
 public:
  virtual ~Stateful() = default;
  // Registers all values that belong in a checkpoint, each once and always in the same order.
  virtual void state(State<T>& state) = 0;
  // For checkpoints written by weft 0.2: returns whether they may lack this entry, which then keeps
  // its value when loaded.
  virtual bool is_new_since_0_2(const std::string& /*name*/) const { return false; }
  // For checkpoints written by weft 0.2: returns whether only they contain this entry, which
  // loading then ignores.
  virtual bool was_only_in_0_2(const std::string& /*name*/) const { return false; }
  // Throws ValueError if the loaded values are invalid, for example for a negative step. The loader
  // then restores the previous values.
  virtual void check_state() const {}
};

}  // namespace weft
