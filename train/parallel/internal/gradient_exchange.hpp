// GradientExchange: adds the gradients of several processes while backward computes them, and sends
// updated weights to all processes.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "weft/train/optim/parameter_elements.hpp"
#include "weft/train/parallel/parallel_pass.hpp"
#include "weft/train/parallel/process_group.hpp"
#include "train/parallel/internal/sum_tree.hpp"
#include "train/parallel/internal/transport.hpp"

namespace weft {

// The elements are divided into buckets of consecutive ranges, starting with the last elements, in
// the order in which backward completes them. In each bucket, every process owns some ranges.
//
// In each step, call `begin`, compute the batches (calling `complete` during the last one), and
// call `reduce_scatter`. Then update the elements that this process owns, and call `begin_weights`.
// Call `finish_weights` before weights are read.
template <class T>
class GradientExchange {
 public:
  // Collective. Exchanges the gradients that `pass` computes. `elements` are the elements of the
  // pass, divided into the ranges of the optimizer.
  GradientExchange(ProcessGroup& processes, ParallelPass<T>& pass,
                   const ParameterElements<T>& elements);
  ~GradientExchange();

  // Returns the elements that each process owns.
  std::vector<ElementSequence> owned() const;

  // Prepares to receive the gradients of a step.
  void begin();
  // Called when backward of the last batch has added everything to the gradient of a parameter.
  // Sends the buckets that are now complete. Called concurrently.
  void complete(std::size_t parameter);
  // Collective. Sends the remaining gradients, and adds the gradients in the ranges that this
  // process owns, in the order of the parts, for parameters that have a gradient in any process.
  // Replaces each of `values` by its sum over all processes. Returns the sum of the losses of all
  // parts.
  double reduce_scatter(std::span<double> values);
  // Collective. Returns the norm of all gradients.
  double norm();

  // Starts sending the weights that this process owns. Call after they have been updated.
  void begin_weights();
  // Waits for the weights of other processes. Does nothing if all have arrived.
  void finish_weights();

 private:
  // A bucket: ranges that are sent together.
  struct Bucket {
    PartRange ranges;
    Index own_begin = 0;   // start of this process's ranges in the sums of other processes
    Index parameters = 0;  // number of parameters with elements in the bucket
    std::atomic<Index> incomplete = 0;  // number of these parameters that are not complete
    std::size_t first_message = 0, last_message = 0;
  };
  // The sum of consecutive parts by one process.
  struct PartialSum {
    Index first_part;
    int process;
    // Contains all elements if `process` is this process, otherwise the elements that this process
    // owns.
    std::vector<T> values;
  };
  // A range that this process owns, and the position of its elements in the sums of other
  // processes.
  struct OwnRange {
    Index range;
    Index offset;
  };

  // Returns the number of elements that this process owns.
  Index divide();
  void add_sums(Index own_elements);
  void add_messages();
  // Returns the ranges of a bucket that a process owns.
  PartRange ranges_of(const Bucket& bucket, int process) const;
  Index num_elements(const PartRange& ranges) const;
  template <class Body>
  void for_each_own_range(const Body& body) const;
  std::vector<T>& weights() { return sums_[own_sums_.front()].values; }

  void send(Bucket& bucket);

  ProcessGroup& processes_;
  Transport& transport_;
  ParallelPass<T>& pass_;
  const ParameterElements<T>& elements_;
  std::deque<Bucket> buckets_;
  std::vector<std::pair<Index, Index>> buckets_of_;  // first and last bucket of each parameter
  std::vector<OwnRange> own_ranges_;
  std::vector<Index> other_ranges_;  // ranges that other processes own

  std::vector<PartialSum> sums_;                                // in the order of the parts
  std::vector<std::size_t> own_sums_;                           // indices of this process's sums
  std::vector<std::pair<std::size_t, std::size_t>> additions_;  // (to, from), indices in `sums_`

  // The losses of all parts, then the number of processes in which each parameter has a gradient,
  // then the values passed to `reduce_scatter`.
  std::vector<double> report_;
  std::vector<double> range_sums_;  // sum of squares of each range

  std::mutex mutex_;  // protects the transport
  // Messages: gradients to this process come first, then gradients from it, then weights.
  std::size_t last_incoming_ = 0, last_gradient_ = 0, last_weight_ = 0;
  bool weights_are_due_ = false;
};

extern template class GradientExchange<float>;
extern template class GradientExchange<double>;

}  // namespace weft
