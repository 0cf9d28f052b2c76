// Tensor: a shape and a contiguous, 64-byte aligned, row-major buffer.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>

#include "weft/autograd/buffer.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/shape.hpp"

namespace weft {

// A value: what is written to one tensor never shows in another. Copying and reshaping are cheap:
// copies share their memory until one of them is accessed for writing (copy on write), which every
// access to a tensor that is not const is. So operations can keep their inputs for backward, and
// nobody can change them in between. A pointer or span for writing is to be used before the tensor
// is copied. Instantiated for float, double, std::int32_t and bool.
//   Tensor<float> x({2, 3}, {1, 2, 3, 4, 5, 6});
//   x(1, 2) = 7;  // the last element
template <class T = float>
class WEFT_API Tensor {
 public:
  // No elements: shape [0].
  Tensor() : shape_{0} {}
  Tensor(const Tensor&) = default;
  Tensor& operator=(const Tensor&) = default;
  // A tensor that was moved from has no elements.
  Tensor(Tensor&& other) noexcept
      : shape_(std::exchange(other.shape_, no_elements)), buffer_(std::move(other.buffer_)) {}
  Tensor& operator=(Tensor&& other) noexcept {
    shape_ = std::exchange(other.shape_, no_elements);
    buffer_ = std::move(other.buffer_);
    return *this;
  }
  ~Tensor() = default;
  // Zeros.
  explicit Tensor(Shape shape);
  // The elements in row-major order. Throws ShapeError when their number differs from the shape's.
  Tensor(Shape shape, std::span<const T> values);
  Tensor(Shape shape, std::initializer_list<T> values)
      : Tensor(shape, std::span<const T>(values.begin(), values.size())) {}

  // Every element is `value`.
  static Tensor full(Shape shape, T value);
  // Uninitialized elements; memory from `pool` when there is one. Throws ShapeError when there is
  // not enough memory for the shape.
  static Tensor uninitialized(Shape shape, Pool* pool = nullptr);

  const Shape& shape() const { return shape_; }     // the sizes of the axes
  Index rank() const { return shape_.rank(); }      // the number of axes
  Index size() const { return shape_.elements(); }  // the number of elements
  bool empty() const { return size() == 0; }        // true without elements

  // The elements in row-major order, for writing: copies those that other tensors share.
  T* data() {
    if (buffer_.shared()) detach();
    return static_cast<T*>(buffer_.data());
  }
  // The elements in row-major order.
  const T* data() const { return static_cast<const T*>(buffer_.data()); }
  // The elements in row-major order; those of a const tensor for reading only.
  std::span<T> values() { return {data(), static_cast<std::size_t>(size())}; }
  std::span<const T> values() const { return {data(), static_cast<std::size_t>(size())}; }
  auto begin() { return values().begin(); }        // of `values`
  auto end() { return values().end(); }            // of `values`
  auto begin() const { return values().begin(); }  // of `values`
  auto end() const { return values().end(); }      // of `values`

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

  void fill(T value);  // sets every element
  // A copy with memory of its own from the start.
  Tensor clone() const;
  // The same elements with another shape; one size may be -1 and is then inferred. Throws
  // ShapeError when the number of elements differs.
  Tensor reshaped(std::initializer_list<Index> sizes) const {
    return reshaped(std::span<const Index>(sizes.begin(), sizes.size()));
  }
  Tensor reshaped(std::span<const Index> sizes) const;
  Tensor reshaped(const Shape& shape) const;

  // True when a write would copy the elements first, as another tensor shares the memory.
  bool shared() const { return buffer_.shared(); }

  // The elements rounded to bf16, with the same numbers in 16 bits each beside them, for operations
  // that are faster when they read half the bytes. Copies have these, too; a write to the elements
  // ends that.
  Tensor rounded_to_bf16() const requires std::floating_point<T>;
  // The elements in 16 bits each; null unless they come from `rounded_to_bf16`.
  const std::uint16_t* bf16() const {
    return static_cast<const std::uint16_t*>(buffer_.attached());
  }

 private:
  static inline const Shape no_elements{0};

  // Replaces shared memory by a copy, from the same pool.
  void detach();
  Index offset(std::initializer_list<Index> indices) const;

  Shape shape_;
  Buffer buffer_;
};

// Token ids: positions in a vocabulary.
using TokenId = std::int32_t;
using Tokens = Tensor<TokenId>;  // of any shape

extern template class Tensor<float>;
extern template class Tensor<double>;
extern template class Tensor<std::int32_t>;
extern template class Tensor<bool>;

}  // namespace weft
