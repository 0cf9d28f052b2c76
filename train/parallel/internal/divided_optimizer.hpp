// DividedOptimizer: an optimizer whose work and state are divided among several processes.
#pragma once

#include <functional>
#include <vector>

#include "weft/train/optim/optimizer.hpp"
#include "weft/train/parallel/process_group.hpp"

namespace weft {

// Each process updates only the elements that it owns, and keeps only their state, as in the first
// stage of ZeRO (Rajbhandari et al., 2020). All functions are collective.
template <class T>
class DividedOptimizer {
 public:
  // Divides the optimizer. `owned` contains the elements of each process. Throws Error if the
  // optimizer is already divided.
  DividedOptimizer(ProcessGroup& processes, Optimizer<T>& optimizer,
                   std::vector<ElementSequence> owned);

  // Calls `work` while the root process has the whole state, for `Optimizer::state`.
  void with_whole_state(const std::function<void()>& work);
  // Sends the whole state to all processes, which then update all elements again.
  void allgather_state();

 private:
  // Returns the whole state: in all processes if `in_all`, otherwise in the root process.
  OptimizerSlices<T> gather(bool in_all) const;

  ProcessGroup& processes_;
  Optimizer<T>& optimizer_;
  ElementSequence all_;
  std::vector<ElementSequence> owned_;
};

extern template class DividedOptimizer<float>;
extern template class DividedOptimizer<double>;

}  // namespace weft
