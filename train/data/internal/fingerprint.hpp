// Fingerprint: the hash of a data source's options and data, which detects different data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weft/autograd/tensor.hpp"
#include "weft/train/data/batch_sampler.hpp"
#include "train/files/internal/xxh128.hpp"

namespace weft {

class Fingerprint {
 public:
  // Hashes the parts in order.
  template <class... Parts>
  explicit Fingerprint(const Parts&... parts) {
    (add(parts), ...);
  }

  void add(std::int64_t number) { hash_.add(std::as_bytes(std::span(&number, 1))); }
  void add(const BatchOptions& options) {
    for (const Index number : {options.batch_size, options.bucket_batches, Index{options.shuffle}})
      add(std::int64_t{number});
    add(static_cast<std::int64_t>(options.seed));
    if (options.drop_last) add(std::int64_t{1});
    hash_.add(std::as_bytes(std::span(options.weights)));
  }
  void add(const Shape& shape) {
    for (const Index size : shape) add(std::int64_t{size});
  }
  void add(const std::vector<TokenId>& tokens) {
    add(std::int64_t{std::ssize(tokens)});
    for (const TokenId token : tokens) add(std::int64_t{token});
  }
  // Adds the shape and the bytes of the elements.
  template <class E>
  void add(const Tensor<E>& tensor) {
    add(tensor.shape());
    hash_.add(std::as_bytes(tensor.values()));
  }
  std::uint64_t value() const { return hash_.value(); }

 private:
  Xxh128 hash_;
};

}  // namespace weft
