// Rows: a long sequence of rows, such as the tokens of a text or the steps of a time series, which
// need not be in memory.
#pragma once

#include <cstdint>

#include "weft/autograd/tensor.hpp"

namespace weft {

// Base class of long sequences of rows that need not be in memory. All rows have the same shape.
// Instances: float, double, TokenId.
template <class E>
class Rows {
 public:
  virtual ~Rows() = default;
  // Returns the shape [n, …] of all n rows together; [n] for tokens.
  virtual const Shape& shape() const = 0;
  // Returns rows [first, last), as a tensor [last - first, …]. Throws ValueError unless
  // 0 ≤ first ≤ last ≤ n.
  virtual Tensor<E> read(Index first, Index last) const = 0;
  // Returns a hash of the rows, so that different data are detected.
  virtual std::uint64_t fingerprint() const = 0;
};

}  // namespace weft
