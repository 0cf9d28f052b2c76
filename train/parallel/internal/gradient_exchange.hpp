// GradientExchange: adds the gradients of several processes while backward computes them, and
// gives every process the weights that each of them has updated.
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

// The elements are divided into buckets of consecutive ranges, the last elements first, as backward
// completes them; in each bucket every process owns some ranges. Per step: `begin`, the batches,
// before the last of them `begin_last_batch`, `send_rest`, `add_up`, an update of the elements that
// this process owns, `begin_weights`, and `finish_weights` before weights are read.
template <class T>
class GradientExchange {
 public:
  // For the parameters whose gradients `pass` computes. Collective.
  GradientExchange(ProcessGroup& processes, ParallelPass<T>& pass);
  ~GradientExchange();

  // The elements that each process owns.
  std::vector<ElementSequence> owned() const;

  // Ready to receive the gradients of a step.
  void begin();
  // In the pass that follows, gradients are sent as soon as backward has completed them.
  void begin_last_batch();
  // Sends what is not sent yet. `has_gradient` becomes 1 for each parameter that has a gradient in
  // this process, and 0 for others.
  void send_rest(std::span<double> has_gradient);
  // Adds the gradients of the ranges that this process owns, in the order of the parts, for the
  // parameters that have a gradient in any process.
  void add_up(std::span<const double> has_gradient);
  // The norm of all gradients. Collective.
  double norm();

  // Begins to send the weights that this process owns, after their update.
  void begin_weights();
  // Waits for those of the others. Does nothing when all are there.
  void finish_weights();

 private:
  // Ranges that are sent together.
  struct Bucket {
    Index first_range = 0, last_range = 0;
    std::atomic<Index> incomplete = 0;  // parameters
    bool is_sent = false;
    std::size_t first_message = 0, last_message = 0;
  };
  // The sum of some parts by one process.
  struct PartialSum {
    PartRange parts;
    int process;
    // Of all elements where that process is this one, otherwise of those that this process owns.
    std::vector<T> values;
  };

  void divide();
  void add_sums();
  void add_messages();
  // The ranges of a bucket that a process owns.
  PartRange owned(const Bucket& bucket, int process) const;
  std::span<std::byte> bytes_of(PartialSum& sum, const PartRange& ranges);
  T* values_of(PartialSum& sum, Index range);
  Index num_buckets() const { return std::ssize(buckets_); }
  std::vector<T>& weights() { return sums_[first_own_sum_].values; }

  void complete(std::size_t parameter);
  void send(Bucket& bucket);

  ProcessGroup& processes_;
  Transport& transport_;
  ParallelPass<T>& pass_;
  const ParameterElements<T>& elements_;
  std::deque<Bucket> buckets_;
  std::vector<std::pair<Index, Index>> buckets_of_;  // each parameter: first and last, included
  std::vector<int> owners_;                          // of each range
  std::vector<Index> owned_ranges_;                  // of all processes, one after the other
  std::vector<int> owned_counts_;                    // of each process
  std::span<const Index> own_ranges_;
  std::vector<Index> own_offsets_;  // of each range in PartialSum::values of other processes

  std::vector<PartialSum> sums_;   // in the order of the parts
  std::size_t first_own_sum_ = 0;  // of this process
  std::size_t last_own_sum_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> additions_;  // to one of `sums_`, another

  std::vector<char> is_complete_;  // of each parameter, whether no part adds to its gradient

  std::mutex mutex_;  // of the transport
  // Messages: gradients to this process come first, then gradients from it, then weights.
  std::size_t last_incoming_ = 0, last_gradient_ = 0, last_weight_ = 0;
  bool weights_are_due_ = false;
  std::vector<double> owned_sums_, range_sums_;  // of squares
};

extern template class GradientExchange<float>;
extern template class GradientExchange<double>;

}  // namespace weft
