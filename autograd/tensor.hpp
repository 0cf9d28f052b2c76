// Tensor: a shape and a shared, contiguous, 64-byte aligned, row-major buffer.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "weft/autograd/buffer.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/shape.hpp"

namespace weft {

// Copies share the elements, as in PyTorch; `clone` copies them. Instantiated for float, double,
// std::int32_t and bool.
template <class T = float>
class WEFT_API Tensor {
 public:
  // No elements: shape [0].
  Tensor() : shape_{0} {}
  // Zeros.
  explicit Tensor(Shape shape);
  // The elements in row-major order. Throws ShapeError when their number differs from the shape's.
  Tensor(Shape shape, std::span<const T> values);
  Tensor(Shape shape, std::initializer_list<T> values)
      : Tensor(shape, std::span<const T>(values.begin(), values.size())) {}

  // Every element is `value`.
  static Tensor full(Shape shape, T value);
  // Uninitialized elements; memory from `pool` when there is one.
  static Tensor uninitialized(Shape shape, Pool* pool = nullptr);

  const Shape& shape() const { return shape_; }
  Index rank() const { return shape_.rank(); }
  Index size() const { return shape_.elements(); }
  bool empty() const { return size() == 0; }

  T* data() { return static_cast<T*>(buffer_.data()); }
  const T* data() const { return static_cast<const T*>(buffer_.data()); }
  std::span<T> values() { return {data(), static_cast<std::size_t>(size())}; }
  std::span<const T> values() const { return {data(), static_cast<std::size_t>(size())}; }
  auto begin() { return values().begin(); }
  auto end() { return values().end(); }
  auto begin() const { return values().begin(); }
  auto end() const { return values().end(); }

  // The element at a position, one index per axis. Throws ShapeError when there is none.
  template <class... Indices>
  T& operator()(Indices... indices) {
    return data()[offset({static_cast<Index>(indices)...})];
  }
  template <class... Indices>
  const T& operator()(Indices... indices) const {
    return data()[offset({static_cast<Index>(indices)...})];
  }
  // The only element. Throws ShapeError when there is not exactly one.
  T item() const;

  void fill(T value);
  Tensor clone() const;
  // The same elements, shared, with another shape; one size may be -1 and is then inferred. Throws
  // ShapeError when the number of elements differs.
  Tensor reshaped(std::initializer_list<Index> sizes) const {
    return reshaped(std::span<const Index>(sizes.begin(), sizes.size()));
  }
  Tensor reshaped(std::span<const Index> sizes) const;
  Tensor reshaped(const Shape& shape) const;

  // True when no other tensor shares the elements.
  bool unique() const { return buffer_.unique(); }

 private:
  Index offset(std::initializer_list<Index> indices) const;

  Shape shape_;
  Buffer buffer_;
};

// Token ids: positions in a vocabulary.
using TokenId = std::int32_t;
using Tokens = Tensor<TokenId>;

extern template class Tensor<float>;
extern template class Tensor<double>;
extern template class Tensor<std::int32_t>;
extern template class Tensor<bool>;

}  // namespace weft
