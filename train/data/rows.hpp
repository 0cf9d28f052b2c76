// Rows: a long sequence of rows of the same shape, such as the tokens of a text or the steps of a
// series, which need not be in memory.
#pragma once

#include <cstdint>

#include "weft/autograd/tensor.hpp"

namespace weft {

// A long sequence of rows of one shape, which need not be in memory. Instances: float, double,
// TokenId.
template <class E>
class Rows {
 public:
  virtual ~Rows() = default;
  // [n, …]: n rows of the shape that follows, [] for tokens.
  virtual const Shape& shape() const = 0;
  // Rows first … last - 1, [last - first, …]. Throws ValueError unless 0 ≤ first ≤ last ≤ n.
  virtual Tensor<E> read(Index first, Index last) const = 0;
  // A hash by which other data are noticed.
  virtual std::uint64_t fingerprint() const = 0;
};

}  // namespace weft
