// State: the visitor by which checkpoints save and load objects.
#pragma once

#include <cstdint>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

// Receives, by reference, everything that a checkpoint contains. Saving reads through the
// references; loading writes through them, after everything in the file was read and checked.
template <class T = float>
class WEFT_API State {
 public:
  virtual ~State() = default;

  // A tensor that already has the expected shape.
  virtual void tensor(const std::string& name, Tensor<T>& value) = 0;
  // A whole number.
  virtual void integer(const std::string& name, std::int64_t& value) = 0;
  // A truth value, stored as an integer of 0 or 1.
  virtual void flag(const std::string& name, bool& value) = 0;
  // A real number.
  virtual void number(const std::string& name, double& value) = 0;
  // A text without NUL.
  virtual void text(const std::string& name, std::string& value) = 0;
  // A list of whole numbers that already has the expected length. A checkpoint contains it only
  // when some are not 0; loading sets all to 0 when the checkpoint lacks it. Visitors that neither
  // save nor load may ignore it.
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
  // Registers everything that a checkpoint contains, once and always in the same order.
  virtual void state(State<T>& state) = 0;
  // Entries that a checkpoint of weft 0.2 may lack keep their values on loading; entries that only
  // such a checkpoint contains are ignored. The empty name stands for the whole state.
  virtual bool is_new_since_0_2(const std::string& /*name*/) const { return false; }
  virtual bool was_only_in_0_2(const std::string& /*name*/) const { return false; }
  // Throws ValueError when loaded values are invalid (for example a negative step); the loader then
  // restores the old ones.
  virtual void check_state() const {}
};

}  // namespace weft
