#include "train/parallel/internal/divided_optimizer.hpp"

#include <algorithm>
#include <utility>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

// The elements of a slice, in the tensor of its whole parameter.
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
    fail<Error>("optimizer", "one that updates all elements", "one that is divided already");
  OptimizerSlices<T> own{owned_[static_cast<std::size_t>(processes.rank())]};
  for (const std::vector<Tensor<T>>& tensors : optimizer.slices().state) {
    std::vector<Tensor<T>>& parts = own.state.emplace_back();
    for (const ElementSlice& slice : own.sequence.slices()) {
      const Tensor<T>& whole = tensors[slice.parameter];
      parts.push_back(slice.size() == whole.size()
                          ? whole
                          : Tensor<T>(Shape{slice.size()}, elements_of(whole, slice)));
    }
  }
  optimizer_.set_slices(std::move(own));
}

template <class T>
std::vector<Tensor<T>> DividedOptimizer<T>::new_tensors() const {
  std::vector<Tensor<T>> tensors;
  for (const auto& [name, parameter] : optimizer_.parameters())
    tensors.push_back(Tensor<T>::uninitialized(parameter->shape()));
  return tensors;
}

// The whole state, in the first process.
template <class T>
OptimizerSlices<T> DividedOptimizer<T>::gather() const {
  OptimizerSlices<T> whole{all_};
  for (const std::vector<Tensor<T>>& own : optimizer_.slices().state) {
    if (!processes_.is_first()) {
      for (const Tensor<T>& tensor : own) processes_.send(std::as_bytes(tensor.values()), 0);
      continue;
    }
    std::vector<Tensor<T>>& tensors = whole.state.emplace_back(new_tensors());
    for (int process = 0; process < processes_.size(); ++process) {
      const auto& slices = owned_[static_cast<std::size_t>(process)].slices();
      for (std::size_t i = 0; i < slices.size(); ++i) {
        const std::span<T> to = elements_of(tensors[slices[i].parameter], slices[i]);
        if (process == 0)
          std::copy(own[i].begin(), own[i].end(), to.begin());
        else
          processes_.receive(std::as_writable_bytes(to), process);
      }
    }
  }
  return whole;
}

template <class T>
void DividedOptimizer<T>::while_whole(const std::function<void()>& work) {
  OptimizerSlices<T> whole = gather();
  if (!processes_.is_first()) return work();
  const struct Divided {
    Optimizer<T>& optimizer;
    OptimizerSlices<T> own;
    ~Divided() { optimizer.set_slices(own); }
  } at_exit{optimizer_, optimizer_.slices()};
  optimizer_.set_slices(std::move(whole));
  work();
}

template <class T>
void DividedOptimizer<T>::unite() {
  OptimizerSlices<T> whole = gather();
  whole.state.resize(optimizer_.slices().state.size());
  for (std::vector<Tensor<T>>& tensors : whole.state) {
    if (tensors.empty()) tensors = new_tensors();
    for (Tensor<T>& tensor : tensors) processes_.broadcast(std::as_writable_bytes(tensor.values()));
  }
  optimizer_.set_slices(std::move(whole));
}

template class DividedOptimizer<float>;
template class DividedOptimizer<double>;

}  // namespace weft
