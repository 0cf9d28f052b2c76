#include "train/parallel/internal/gradient_exchange.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "weft/autograd/error.hpp"
#include "weft/train/optim/clip.hpp"

namespace weft {
namespace {

// Elements of a bucket: eight buckets of a model, but messages of neither a few KB nor many MB.
Index bucket_size(Index elements) {
  return std::clamp<Index>(elements / 8, Index{1} << 16, Index{1} << 20);
}

}  // namespace

template <class T>
GradientExchange<T>::GradientExchange(ProcessGroup& processes, ParallelPass<T>& pass)
    : processes_(processes),
      transport_(*processes.transport()),
      pass_(pass),
      elements_(pass.elements()),
      is_complete_(elements_.parameters().size()) {
  divide();
  add_sums();
  add_messages();
}

template <class T>
GradientExchange<T>::~GradientExchange() {
  transport_.remove_messages();
}

template <class T>
PartRange GradientExchange<T>::owned(const Bucket& bucket, int process) const {
  const PartRange part =
      parts_of_process(bucket.last_range - bucket.first_range, process, processes_.size());
  return {bucket.first_range + part.first, bucket.first_range + part.last};
}

// Buckets from the last range to the first, and in each some ranges for every process.
template <class T>
void GradientExchange<T>::divide() {
  const Index ranges = elements_.num_ranges();
  if (ranges > 0) {
    const Index in_bucket = std::max<Index>(
        processes_.size(), bucket_size(elements_.size()) / elements_.range_begin(1));
    for (Index last = ranges; last > 0; last = std::max<Index>(0, last - in_bucket)) {
      Bucket& bucket = buckets_.emplace_back();
      bucket.first_range = std::max<Index>(0, last - in_bucket);
      bucket.last_range = last;
    }
  }
  owners_.resize(static_cast<std::size_t>(ranges));
  own_offsets_.assign(owners_.size(), -1);
  std::size_t first_own = 0;
  for (int process = 0; process < processes_.size(); ++process) {
    const std::size_t before = owned_ranges_.size();
    if (process == processes_.rank()) first_own = before;
    for (const Bucket& bucket : buckets_) {
      const PartRange of_process = owned(bucket, process);
      for (Index range = of_process.first; range < of_process.last; ++range) {
        owners_[static_cast<std::size_t>(range)] = process;
        owned_ranges_.push_back(range);
      }
    }
    owned_counts_.push_back(static_cast<int>(owned_ranges_.size() - before));
  }
  own_ranges_ =
      std::span(owned_ranges_)
          .subspan(first_own, static_cast<std::size_t>(
                                  owned_counts_[static_cast<std::size_t>(processes_.rank())]));
  Index offset = 0;
  for (const Index range : own_ranges_) {
    own_offsets_[static_cast<std::size_t>(range)] = offset;
    offset += elements_.range_begin(range + 1) - elements_.range_begin(range);
  }
  owned_sums_.resize(owned_ranges_.size());
  range_sums_.resize(owned_ranges_.size());

  const std::size_t parameters = elements_.parameters().size();
  buckets_of_.assign(parameters, {num_buckets(), -1});
  for (Index i = 0; i < num_buckets(); ++i) {
    const Bucket& bucket = buckets_[static_cast<std::size_t>(i)];
    elements_.for_each_part(elements_.range_begin(bucket.first_range),
                            elements_.range_begin(bucket.last_range),
                            [&](std::size_t index, Index, Index) {
                              auto& [first, last] = buckets_of_[index];
                              first = std::min(first, i);
                              last = std::max(last, i);
                            });
  }
}

template <class T>
std::vector<ElementSequence> GradientExchange<T>::owned() const {
  std::vector<ElementSequence> owned(static_cast<std::size_t>(processes_.size()));
  for (Index range = 0; range < elements_.num_ranges(); ++range)
    elements_.for_each_part(elements_.range_begin(range), elements_.range_begin(range + 1),
                            [&](std::size_t index, Index begin, Index end) {
                              const int owner = owners_[static_cast<std::size_t>(range)];
                              owned[static_cast<std::size_t>(owner)].add({index, begin, end});
                            });
  return owned;
}

template <class T>
void GradientExchange<T>::add_sums() {
  const Index parts = pass_.max_parts();
  Index own_elements = 0;
  for (const Index range : own_ranges_)
    own_elements += elements_.range_begin(range + 1) - elements_.range_begin(range);
  for (int process = 0; process < processes_.size(); ++process) {
    const bool is_own = process == processes_.rank();
    if (is_own) first_own_sum_ = sums_.size();
    for (const PartRange& summed :
         largest_sums(parts, parts_of_process(parts, process, processes_.size())))
      sums_.push_back(
          {summed, process,
           std::vector<T>(static_cast<std::size_t>(is_own ? elements_.size() : own_elements))});
    if (is_own) last_own_sum_ = sums_.size();
  }
  const auto sum_from = [&](Index part) {
    return static_cast<std::size_t>(
        std::find_if(sums_.begin(), sums_.end(),
                     [&](const PartialSum& sum) { return sum.parts.first == part; }) -
        sums_.begin());
  };
  for (const auto& [all, middle] : sum_tree(parts)) {
    const bool is_made = std::any_of(sums_.begin(), sums_.end(), [&range = all](const auto& sum) {
      return sum.parts.contains(range);
    });
    if (!is_made) additions_.emplace_back(sum_from(all.first), sum_from(middle));
  }
}

template <class T>
T* GradientExchange<T>::values_of(PartialSum& sum, Index range) {
  return sum.values.data() + (sum.process == processes_.rank()
                                  ? elements_.range_begin(range)
                                  : own_offsets_[static_cast<std::size_t>(range)]);
}

template <class T>
std::span<std::byte> GradientExchange<T>::bytes_of(PartialSum& sum, const PartRange& ranges) {
  if (ranges.size() == 0) return {};
  const Index size = elements_.range_begin(ranges.last) - elements_.range_begin(ranges.first);
  return std::as_writable_bytes(
      std::span(values_of(sum, ranges.first), static_cast<std::size_t>(size)));
}

template <class T>
void GradientExchange<T>::add_messages() {
  // The tag of a gradient: its bucket, and the number of the sum.
  const auto tag = [&](Index bucket, std::size_t sum) {
    return 1 + static_cast<int>(bucket * std::ssize(sums_)) + static_cast<int>(sum);
  };
  const int rank = processes_.rank();
  const auto for_each_bucket = [&](const auto& body) {
    for (Index i = 0; i < num_buckets(); ++i) body(i, buckets_[static_cast<std::size_t>(i)]);
  };
  for_each_bucket([&](Index i, const Bucket& bucket) {
    for (std::size_t sum = 0; sum < sums_.size(); ++sum)
      if (const std::span<std::byte> bytes = bytes_of(sums_[sum], owned(bucket, rank));
          sums_[sum].process != rank && !bytes.empty())
        last_incoming_ = 1 + transport_.add_incoming(bytes, sums_[sum].process, tag(i, sum));
  });
  last_gradient_ = last_incoming_;
  for_each_bucket([&](Index i, Bucket& bucket) {
    bucket.first_message = last_gradient_;
    for (std::size_t sum = first_own_sum_; sum < last_own_sum_; ++sum)
      for (int other = 0; other < processes_.size(); ++other)
        if (const std::span<std::byte> bytes = bytes_of(sums_[sum], owned(bucket, other));
            other != rank && !bytes.empty())
          last_gradient_ = 1 + transport_.add_outgoing(bytes, other, tag(i, sum));
    bucket.last_message = last_gradient_;
  });
  last_weight_ = last_gradient_;
  // The weights are gathered in the memory of the first own sum, which has all elements.
  for_each_bucket([&](Index i, const Bucket& bucket) {
    PartialSum& all = sums_[first_own_sum_];
    const std::span<std::byte> own = bytes_of(all, owned(bucket, rank));
    for (int other = 0; other < processes_.size(); ++other) {
      if (other == rank) continue;
      const int weight_tag = tag(num_buckets() + i, 0);
      if (const std::span<std::byte> bytes = bytes_of(all, owned(bucket, other)); !bytes.empty())
        last_weight_ = 1 + transport_.add_incoming(bytes, other, weight_tag);
      if (!own.empty()) last_weight_ = 1 + transport_.add_outgoing(own, other, weight_tag);
    }
  });
}

template <class T>
void GradientExchange<T>::begin() {
  pass_.set_on_complete(nullptr);
  std::fill(is_complete_.begin(), is_complete_.end(), false);
  for (Bucket& bucket : buckets_) {
    bucket.is_sent = false;
    bucket.incomplete = 0;
  }
  for (const auto& [first, last] : buckets_of_)
    for (Index i = first; i <= last; ++i) ++buckets_[static_cast<std::size_t>(i)].incomplete;
  transport_.start(0, last_incoming_);
}

template <class T>
void GradientExchange<T>::begin_last_batch() {
  pass_.set_on_complete([this](std::size_t parameter) { complete(parameter); });
}

template <class T>
void GradientExchange<T>::complete(std::size_t parameter) {
  is_complete_[parameter] = true;
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
  bucket.is_sent = true;
  parallel_for(bucket.last_range - bucket.first_range, 1, [&](Index begin_range, Index end_range) {
    const Index first = elements_.range_begin(bucket.first_range + begin_range);
    Index position = first;
    elements_.for_each_part(
        first, elements_.range_begin(bucket.first_range + end_range),
        [&](std::size_t index, Index begin, Index end) {
          pass_.sum_elements(index, begin, end);
          for (std::size_t i = first_own_sum_; i < last_own_sum_; ++i) {
            T* const to = sums_[i].values.data() + position;
            const GradientSum<T>& sum = pass_.sum_of(sums_[i].parts.first, index);
            // Adding -0 changes no number, not even the sign of a zero.
            if (sum.empty())
              std::fill(to, to + (end - begin), -T{0});
            else
              std::copy(sum.values().data() + begin, sum.values().data() + end, to);
          }
          position += end - begin;
        });
  });
  const std::lock_guard lock(mutex_);
  transport_.start(bucket.first_message, bucket.last_message);
}

template <class T>
void GradientExchange<T>::send_rest(std::span<double> has_gradient) {
  for (std::size_t i = 0; i < is_complete_.size(); ++i) {
    if (!is_complete_[i]) pass_.prepare_sum(i);
    bool has_one = false;
    for (std::size_t sum = first_own_sum_; sum < last_own_sum_; ++sum)
      has_one = has_one || !pass_.sum_of(sums_[sum].parts.first, i).empty();
    has_gradient[i] = has_one ? 1.0 : 0.0;
  }
  for (Bucket& bucket : buckets_)
    if (!bucket.is_sent) send(bucket);
}

template <class T>
void GradientExchange<T>::add_up(std::span<const double> has_gradient) {
  for (std::size_t i = 0; i < has_gradient.size(); ++i) {
    const Parameter<T>& parameter = *elements_.parameters()[i].parameter;
    if (has_gradient[i] > 0.0 && parameter.gradient_sum().empty())
      parameter.gradient_sum().gradient(parameter.shape());
  }
  elements_.prepare("processes");
  transport_.wait(0, last_gradient_);
  parallel_for(std::ssize(own_ranges_), 1, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const Index range = own_ranges_[static_cast<std::size_t>(i)];
      const Index begin_element = elements_.range_begin(range);
      const Index end_element = elements_.range_begin(range + 1);
      for (const auto& [to, from] : additions_) {
        T* const total = values_of(sums_[to], range);
        std::transform(total, total + (end_element - begin_element), values_of(sums_[from], range),
                       total, std::plus<T>());
      }
      const T* next = values_of(sums_.front(), range);
      elements_.for_each_part(
          begin_element, end_element, [&](std::size_t index, Index begin, Index end) {
            GradientSum<T>& gradient = elements_.parameters()[index].parameter->gradient_sum();
            if (!gradient.empty()) std::copy(next, next + (end - begin), gradient.data() + begin);
            next += end - begin;
          });
    }
  });
}

template <class T>
double GradientExchange<T>::norm() {
  const std::size_t first = static_cast<std::size_t>(own_ranges_.data() - owned_ranges_.data());
  parallel_for(std::ssize(own_ranges_), 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index range = own_ranges_[static_cast<std::size_t>(i)];
      sums_of_squares(elements_, range, range + 1,
                      std::span(owned_sums_).subspan(first + static_cast<std::size_t>(i), 1));
    }
  });
  processes_.gather(owned_sums_, owned_counts_);
  for (std::size_t i = 0; i < owned_ranges_.size(); ++i)
    range_sums_[static_cast<std::size_t>(owned_ranges_[i])] = owned_sums_[i];
  return norm_of_sums(range_sums_);
}

template <class T>
void GradientExchange<T>::begin_weights() {
  parallel_for(std::ssize(own_ranges_), 1, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      const Index range = own_ranges_[static_cast<std::size_t>(i)];
      T* next = weights().data() + elements_.range_begin(range);
      elements_.for_each_part(elements_.range_begin(range), elements_.range_begin(range + 1),
                              [&](std::size_t index, Index begin, Index end) {
                                const Parameter<T>& from = *elements_.parameters()[index].parameter;
                                const T* values = from.value().data();
                                next = std::copy(values + begin, values + end, next);
                              });
    }
  });
  transport_.start(last_gradient_, last_weight_);
  weights_are_due_ = true;
}

template <class T>
void GradientExchange<T>::finish_weights() {
  if (!weights_are_due_) return;
  transport_.wait(last_gradient_, last_weight_);
  weights_are_due_ = false;
  elements_.prepare("processes");
  parallel_for(elements_.num_ranges(), 1, [&](Index first, Index last) {
    for (Index range = first; range < last; ++range) {
      if (owners_[static_cast<std::size_t>(range)] == processes_.rank()) continue;
      const T* next = weights().data() + elements_.range_begin(range);
      elements_.for_each_part(elements_.range_begin(range), elements_.range_begin(range + 1),
                              [&](std::size_t index, Index begin, Index end) {
                                Parameter<T>& to = *elements_.parameters()[index].parameter;
                                std::copy(next, next + (end - begin), to.values().data() + begin);
                                next += end - begin;
                              });
    }
  });
}

template class GradientExchange<float>;
template class GradientExchange<double>;

}  // namespace weft
