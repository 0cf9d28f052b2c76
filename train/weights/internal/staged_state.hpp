// StagedState: the state of an object read from a file, kept separately until all of it is checked.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "weft/train/weights/state.hpp"
#include "train/weights/internal/dataset_names.hpp"

namespace weft {

template <class T>
class StagedState {
 public:
  // Reads everything that `object` names from the datasets of a group. The object is not changed.
  // Throws FileError when the file has other names, shapes or types, listing all of them, and
  // NonFiniteError for a NaN or an infinity in a tensor.
  StagedState(const Hdf5File& file, const std::string& group, PathsByName datasets,
              Stateful<T>& object);

  // Swaps the values that were read with the object's; a second call restores the object. Throws
  // ValueError where the object does not name the same again; what was named before that is
  // swapped.
  void exchange();
  // Calls the object's `check_state`, and adds the file and the group to the message of its
  // ValueError.
  void check() const;

 private:
  std::string location_;
  Stateful<T>& object_;
  // In the order in which the object names them.
  std::vector<std::variant<Tensor<T>, std::int64_t, double, std::string>> values_;
};

extern template class StagedState<float>;
extern template class StagedState<double>;

}  // namespace weft
