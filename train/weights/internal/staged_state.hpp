// StagedState: the state of an object as a file has it, kept apart until all of it is known to fit.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "weft/train/hdf5/hdf5_file.hpp"
#include "weft/train/weights/state.hpp"

namespace weft {

template <class T>
class StagedState {
 public:
  // Reads everything that `object` names from the datasets below `group`. The object stays as it
  // is. Throws FileError when the file has other names, shapes or types, listing all of them, and
  // NonFiniteError for a NaN or an infinity in a tensor.
  StagedState(const Hdf5File& file, const std::string& group, Stateful<T>& object);

  // Exchanges what was read with what the object has; a second time puts it back.
  void exchange();
  // Calls the object's `check_state`; what it throws then names the file and the group.
  void check() const;

 private:
  using Value = std::variant<Tensor<T>, std::int64_t, double, std::string>;
  class Reader;
  class Exchanger;

  std::string place_;
  Stateful<T>& object_;
  std::vector<Value> values_;  // in the order in which the object names them
};

extern template class StagedState<float>;
extern template class StagedState<double>;

}  // namespace weft
