#include "train/parallel/internal/gradient_exchange.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "weft/autograd/error.hpp"
#include "weft/train/optim/clip.hpp"

namespace weft {
namespace {

// Returns the number of elements of a bucket: about an eighth of the model, but limited so that
// messages are neither very small nor very large.
Index bucket_size(Index elements) {
  return std::clamp<Index>(elements / 8, Index{1} << 16, Index{1} << 20);
}

}  // namespace

template <class T>
GradientExchange<T>::GradientExchange(ProcessGroup& processes, ParallelPass<T>& pass,
                                      const ParameterElements<T>& elements)
    : processes_(processes),
      transport_(*processes.transport()),
      pass_(pass),
      elements_(elements),
      range_sums_(static_cast<std::size_t>(elements_.num_ranges())) {
  add_sums(divide());
  add_messages();
}

template <class T>
GradientExchange<T>::~GradientExchange() {
  transport_.remove_messages();
}

// Divides the elements of a bucket about equally. A range belongs to the process in whose share its
// middle lies.
template <class T>
PartRange GradientExchange<T>::ranges_of(const Bucket& bucket, int process) const {
  const Index begin = elements_.range_begin(bucket.ranges.first);
  const Index size = num_elements(bucket.ranges);
  // Returns the first range whose middle lies in the share of process i or a later one.
  const auto first_of = [&](Index i) {
    Index range = bucket.ranges.first;
    while (range < bucket.ranges.last &&
           elements_.range_begin(range) + elements_.range_begin(range + 1) - 2 * begin <
               2 * size * i / processes_.size())
      ++range;
    return range;
  };
  return {first_of(process), first_of(process + 1)};
}

template <class T>
Index GradientExchange<T>::num_elements(const PartRange& ranges) const {
  return elements_.range_begin(ranges.last) - elements_.range_begin(ranges.first);
}

// Divides the elements into buckets, from the last range to the first. In each bucket, every
// process owns some ranges.
template <class T>
Index GradientExchange<T>::divide() {
  const Index in_bucket = bucket_size(elements_.size());
  buckets_of_.assign(elements_.parameters().size(), {0, -1});
  Index own_elements = 0;
  for (Index last = elements_.num_ranges(); last > 0;) {
    const Index number = std::ssize(buckets_);
    Bucket& bucket = buckets_.emplace_back();
    Index first = std::max<Index>(0, last - processes_.size());
    while (first > 0 && num_elements({first - 1, last}) <= in_bucket) --first;
    bucket.ranges = {first, last};
    bucket.own_begin = own_elements;
    const PartRange own = ranges_of(bucket, processes_.rank());
    for (Index range = bucket.ranges.first; range < last; ++range) {
      if (own.contains({range, range + 1})) {
        own_ranges_.push_back({range, own_elements});
        own_elements += num_elements({range, range + 1});
      } else {
        other_ranges_.push_back(range);
      }
    }
    elements_.for_each_part(elements_.range_begin(bucket.ranges.first), elements_.range_begin(last),
                            [&](std::size_t index, Index, Index) {
                              auto& [first_bucket, last_bucket] = buckets_of_[index];
                              if (last_bucket < 0) first_bucket = number;
                              last_bucket = number;
                              ++bucket.parameters;
                            });
    last = bucket.ranges.first;
  }
  return own_elements;
}

template <class T>
std::vector<ElementSequence> GradientExchange<T>::owned() const {
  std::vector<ElementSequence> owned(static_cast<std::size_t>(processes_.size()));
  for (int process = 0; process < processes_.size(); ++process)
    for (const Bucket& bucket : buckets_) {
      const PartRange ranges = ranges_of(bucket, process);
      elements_.for_each_part(elements_.range_begin(ranges.first),
                              elements_.range_begin(ranges.last),
                              [&](std::size_t index, Index begin, Index end) {
                                owned[static_cast<std::size_t>(process)].add({index, begin, end});
                              });
    }
  return owned;
}

template <class T>
void GradientExchange<T>::add_sums(Index own_elements) {
  const Index parts = pass_.max_parts();
  const auto process_with = [&](const PartRange& range) {
    int process = 0;
    while (process < processes_.size() &&
           !parts_of_process(parts, process, processes_.size()).contains(range))
      ++process;
    return process;
  };
  // The additions of sums from several processes. Every part except the first is the middle of
  // exactly one addition.
  std::vector<Addition> additions = sum_tree(parts);
  std::erase_if(additions, [&](const Addition& addition) {
    return process_with(addition.all) < processes_.size();
  });
  std::vector<Index> first_parts{0};
  for (const Addition& addition : additions) first_parts.push_back(addition.middle);
  std::ranges::sort(first_parts);
  for (const Index first : first_parts) {
    const int process = process_with({first, first + 1});
    const bool is_own = process == processes_.rank();
    if (is_own) own_sums_.push_back(sums_.size());
    const Index size = is_own ? elements_.size() : own_elements;
    sums_.push_back({first, process, std::vector<T>(static_cast<std::size_t>(size))});
  }
  const auto sum_from = [&](Index part) {
    return static_cast<std::size_t>(std::ranges::lower_bound(first_parts, part) -
                                    first_parts.begin());
  };
  for (const Addition& addition : additions)
    additions_.emplace_back(sum_from(addition.all.first), sum_from(addition.middle));
}

template <class T>
void GradientExchange<T>::add_messages() {
  // Messages contain the elements of some ranges. Empty messages are omitted.
  std::size_t messages = 0;
  // The bytes of the elements of `ranges`, which start at position `begin` of a sum.
  const auto bytes = [&](std::size_t sum, Index begin, const PartRange& ranges) {
    return std::as_writable_bytes(std::span(sums_[sum].values)
                                      .subspan(static_cast<std::size_t>(begin),
                                               static_cast<std::size_t>(num_elements(ranges))));
  };
  const auto receive = [&](std::span<std::byte> to, int from, int tag) {
    if (!to.empty()) messages = 1 + transport_.add_incoming(to, from, tag);
  };
  const auto send = [&](std::size_t sum, const PartRange& ranges, int to, int tag) {
    const auto from = bytes(sum, elements_.range_begin(ranges.first), ranges);
    if (!from.empty()) messages = 1 + transport_.add_outgoing(from, to, tag);
  };
  // The tag of a gradient encodes its bucket and the index of the sum.
  const auto tag = [&](std::size_t bucket, std::size_t sum) {
    return 1 + static_cast<int>(bucket * sums_.size() + sum);
  };

  const int rank = processes_.rank();
  for (std::size_t i = 0; i < buckets_.size(); ++i)
    for (std::size_t sum = 0; sum < sums_.size(); ++sum)
      if (sums_[sum].process != rank)
        receive(bytes(sum, buckets_[i].own_begin, ranges_of(buckets_[i], rank)), sums_[sum].process,
                tag(i, sum));
  last_incoming_ = messages;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    buckets_[i].first_message = messages;
    for (const std::size_t sum : own_sums_)
      for (int other = 0; other < processes_.size(); ++other)
        if (other != rank) send(sum, ranges_of(buckets_[i], other), other, tag(i, sum));
    buckets_[i].last_message = messages;
  }
  last_gradient_ = messages;
  // The weights are gathered in the memory of this process's first sum, which has all elements.
  for (std::size_t i = 0; i < buckets_.size(); ++i)
    for (int other = 0; other < processes_.size(); ++other) {
      if (other == rank) continue;
      const std::size_t all = own_sums_.front();
      const PartRange ranges = ranges_of(buckets_[i], other);
      receive(bytes(all, elements_.range_begin(ranges.first), ranges), other,
              tag(buckets_.size() + i, 0));
      send(all, ranges_of(buckets_[i], rank), other, tag(buckets_.size() + i, 0));
    }
  last_weight_ = messages;
}

template <class T>
void GradientExchange<T>::begin() {
  for (Bucket& bucket : buckets_) bucket.incomplete = bucket.parameters;
  transport_.start(0, last_incoming_);
}

template <class T>
void GradientExchange<T>::complete(std::size_t parameter) {
  pass_.prepare_sum(parameter);
  const auto& [first, last] = buckets_of_[parameter];
  for (Index i = first; i <= last; ++i)
    if (Bucket& bucket = buckets_[static_cast<std::size_t>(i)]; --bucket.incomplete == 0)
      send(bucket);
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock)
    transport_.proceed(0, last_gradient_);
}

template <class T>
void GradientExchange<T>::send(Bucket& bucket) {
  parallel_for(bucket.ranges.size(), 1, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i)
      elements_.for_each_part_of(
          bucket.ranges.first + i, [&](std::size_t index, Index begin, Index end, Index position) {
            pass_.sum_elements(index, begin, end);
            for (const std::size_t own : own_sums_) {
              T* const to = sums_[own].values.data() + position;
              const GradientAccumulator<T>& sum = pass_.sum_of(sums_[own].first_part, index);
              // x + -0 is x for every x, including 0 and -0.
              if (sum.empty())
                std::fill(to, to + (end - begin), -T{0});
              else
                std::copy(sum.values().data() + begin, sum.values().data() + end, to);
            }
          });
  });
  const std::lock_guard lock(mutex_);
  transport_.start(bucket.first_message, bucket.last_message);
}

template <class T>
template <class Body>
void GradientExchange<T>::for_each_own_range(const Body& body) const {
  parallel_for(std::ssize(own_ranges_), 1, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) body(own_ranges_[static_cast<std::size_t>(i)]);
  });
}

template <class T>
double GradientExchange<T>::reduce_scatter(std::span<double> values) {
  const Index parts = pass_.max_parts();
  const std::size_t parameters = elements_.parameters().size();
  report_.assign(static_cast<std::size_t>(parts) + parameters, 0.0);
  report_.insert(report_.end(), values.begin(), values.end());
  const PartRange own_parts = parts_of_process(parts, processes_.rank(), processes_.size());
  std::ranges::copy(pass_.losses(), report_.begin() + own_parts.first);
  const std::span<double> has_gradient =
      std::span(report_).subspan(static_cast<std::size_t>(parts), parameters);
  for (std::size_t i = 0; i < has_gradient.size(); ++i) {
    pass_.prepare_sum(i);
    for (const std::size_t own : own_sums_)
      if (!pass_.sum_of(sums_[own].first_part, i).empty()) has_gradient[i] = 1.0;
  }
  for (Bucket& bucket : buckets_)
    if (bucket.incomplete > 0) send(bucket);

  processes_.all_reduce(report_);
  std::copy(report_.end() - std::ssize(values), report_.end(), values.begin());
  for (std::size_t i = 0; i < has_gradient.size(); ++i) {
    const Parameter<T>& parameter = *elements_.parameters()[i].parameter;
    if (has_gradient[i] > 0.0 && parameter.gradient_sum().empty())
      parameter.gradient_sum().gradient(parameter.shape());
  }
  elements_.prepare("processes");
  transport_.wait(0, last_gradient_);
  for_each_own_range([&](const OwnRange& own) {
    const Index first = elements_.range_begin(own.range);
    const Index size = elements_.range_begin(own.range + 1) - first;
    const auto values_of = [&](std::size_t number) {
      PartialSum& sum = sums_[number];
      return sum.values.data() + (sum.process == processes_.rank() ? first : own.offset);
    };
    for (const auto& [to, from] : additions_) {
      T* const total = values_of(to);
      std::transform(total, total + size, values_of(from), total, std::plus<T>());
    }
    const T* const total = values_of(0);
    elements_.for_each_part_of(own.range, [&](std::size_t index, Index begin, Index end,
                                              Index position) {
      GradientAccumulator<T>& gradient = elements_.parameters()[index].parameter->gradient_sum();
      if (gradient.empty()) return;
      const T* const from = total + (position - first);
      std::copy(from, from + (end - begin), gradient.data() + begin);
    });
  });
  return std::accumulate(report_.begin(), report_.begin() + parts, 0.0);
}

template <class T>
double GradientExchange<T>::norm() {
  std::ranges::fill(range_sums_, 0.0);
  for_each_own_range([&](const OwnRange& own) {
    range_sums_[static_cast<std::size_t>(own.range)] = sum_of_squares(elements_, own.range);
  });
  processes_.all_reduce(range_sums_);
  return std::sqrt(std::accumulate(range_sums_.begin(), range_sums_.end(), 0.0));
}

template <class T>
void GradientExchange<T>::begin_weights() {
  for_each_own_range([&](const OwnRange& own) {
    elements_.for_each_part_of(
        own.range, [&](std::size_t index, Index begin, Index end, Index position) {
          const T* values = elements_.parameters()[index].parameter->value().data();
          std::copy(values + begin, values + end, weights().data() + position);
        });
  });
  transport_.start(last_gradient_, last_weight_);
  weights_are_due_ = true;
}

template <class T>
void GradientExchange<T>::finish_weights() {
  if (!weights_are_due_) return;
  transport_.wait(last_gradient_, last_weight_);
  weights_are_due_ = false;
  elements_.check_shapes("processes");
  for (const auto& [name, parameter] : elements_.parameters()) parameter->values();
  parallel_for(std::ssize(other_ranges_), 1, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i)
      elements_.for_each_part_of(other_ranges_[static_cast<std::size_t>(i)],
                                 [&](std::size_t index, Index begin, Index end, Index position) {
                                   const T* from = weights().data() + position;
                                   T* values =
                                       elements_.parameters()[index].parameter->values().data();
                                   std::copy(from, from + (end - begin), values + begin);
                                 });
  });
}

template class GradientExchange<float>;
template class GradientExchange<double>;

}  // namespace weft
