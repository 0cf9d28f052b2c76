#include "train/parallel/internal/divided_optimizer.hpp"

#include <algorithm>
#include <utility>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

// Returns the elements of a slice, given the tensor of its whole parameter.
auto elements_of(auto& tensor, const ElementSlice& slice) {
  return tensor.values().subspan(static_cast<std::size_t>(slice.begin),
                                 static_cast<std::size_t>(slice.size()));
}

}  // namespace

template <class T>
DividedOptimizer<T>::DividedOptimizer(ProcessGroup& processes, Optimizer<T>& optimizer,
                                      std::vector<ElementSequence> owned)
    : processes_(processes),
      optimizer_(optimizer),
      all_(optimizer.slices().sequence),
      owned_(std::move(owned)) {
  if (!optimizer.is_whole())
    fail<Error>("optimizer", "an optimizer that updates all elements",
                "an already divided optimizer");
  OptimizerSlices<T> own{owned_[static_cast<std::size_t>(processes.rank())]};
  for (const std::vector<Tensor<T>>& tensors : optimizer.slices().state) {
    std::vector<Tensor<T>>& parts = own.state.emplace_back();
    for (const ElementSlice& slice : own.sequence.slices()) {
      const Tensor<T>& whole = tensors[slice.parameter];
      parts.push_back(whole.empty() || slice.size() == whole.size()
                          ? whole
                          : Tensor<T>(Shape{slice.size()}, elements_of(whole, slice)));
    }
  }
  optimizer_.set_slices(std::move(own));
}

template <class T>
OptimizerSlices<T> DividedOptimizer<T>::gather(bool in_all) const {
  OptimizerSlices<T> whole{all_};
  const bool in_this = in_all || processes_.is_root();
  for (std::size_t number = 0; number < optimizer_.slices().state.size(); ++number) {
    const std::vector<Tensor<T>>& own = optimizer_.slices().state[number];
    std::vector<Tensor<T>>& tensors = whole.state.emplace_back();
    for (const ElementSlice& slice : all_.slices())
      if (in_this)
        tensors.push_back(Tensor<T>::uninitialized(optimizer_.state_shape(number, slice)));
    for (int process = 0; process < processes_.size(); ++process) {
      const auto& slices = owned_[static_cast<std::size_t>(process)].slices();
      for (std::size_t i = 0; i < slices.size(); ++i) {
        if (optimizer_.state_shape(number, slices[i]).elements() == 0) continue;
        std::span<T> to;
        if (in_this) to = elements_of(tensors[slices[i].parameter], slices[i]);
        const bool is_own = process == processes_.rank();
        if (is_own && in_this) std::ranges::copy(own[i], to.begin());
        if (in_all)
          processes_.broadcast(std::as_writable_bytes(to), process);
        else if (in_this && !is_own)
          processes_.receive(std::as_writable_bytes(to), process);
        else if (is_own && !in_this)
          processes_.send(std::as_bytes(own[i].values()), 0);
      }
    }
  }
  return whole;
}

template <class T>
void DividedOptimizer<T>::with_whole_state(const std::function<void()>& work) {
  OptimizerSlices<T> whole = gather(false);
  if (!processes_.is_root()) return work();
  const struct Divided {
    Optimizer<T>& optimizer;
    OptimizerSlices<T> own;
    ~Divided() { optimizer.set_slices(own); }
  } at_exit{optimizer_, optimizer_.slices()};
  optimizer_.set_slices(std::move(whole));
  work();
}

template <class T>
void DividedOptimizer<T>::allgather_state() {
  optimizer_.set_slices(gather(true));
}

template class DividedOptimizer<float>;
template class DividedOptimizer<double>;

}  // namespace weft
