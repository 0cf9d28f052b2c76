// Tensor: a shape and a contiguous, 64-byte aligned, row-major buffer.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <utility>

#include "weft/autograd/buffer.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/shape.hpp"

namespace weft {

// A tensor with value semantics: writing to one tensor never changes another. Copying and reshaping
// are cheap, because copies share their memory until one of them is accessed for writing (copy on
// write). Every access to a non-const tensor counts as writing. Operations can therefore keep their
// inputs for backward, and nobody can change the inputs in between. Pointers and spans for writing
// must be used before the tensor is copied. Instantiated for float, double, std::int32_t and bool.
//   Tensor<float> x({2, 3}, {1, 2, 3, 4, 5, 6});
//   x(1, 2) = 7;  // the last element
template <class T = float>
class WEFT_API Tensor {
 public:
  // Creates a tensor without elements, of shape [0].
  Tensor() : shape_{0} {}
  Tensor(const Tensor&) = default;
  Tensor& operator=(const Tensor&) = default;
  // A moved-from tensor has no elements.
  Tensor(Tensor&& other) noexcept
      : shape_(std::exchange(other.shape_, no_elements)),
        buffer_(std::move(other.buffer_)),
        is_bf16_(std::exchange(other.is_bf16_, false)) {}
  Tensor& operator=(Tensor&& other) noexcept {
    shape_ = std::exchange(other.shape_, no_elements);
    buffer_ = std::move(other.buffer_);
    is_bf16_ = std::exchange(other.is_bf16_, false);
    return *this;
  }
  ~Tensor() = default;
  // Creates a tensor of this shape, filled with zeros.
  explicit Tensor(Shape shape);
  // Creates a tensor with these elements, in row-major order. Throws ShapeError if their number
  // does not match the shape.
  Tensor(Shape shape, std::span<const T> values);
  Tensor(Shape shape, std::initializer_list<T> values)
      : Tensor(shape, std::span<const T>(values.begin(), values.size())) {}

  // Returns a tensor of this shape, filled with `value`.
  static Tensor full(Shape shape, T value);
  // Returns a tensor of this shape with uninitialized elements, in memory from `pool` unless it is
  // null. Throws ShapeError if the memory cannot be allocated.
  static Tensor uninitialized(Shape shape, Pool* pool = nullptr);

  const Shape& shape() const { return shape_; }     // the sizes of the axes
  Index rank() const { return shape_.rank(); }      // the number of axes
  Index size() const { return shape_.elements(); }  // the number of elements
  bool empty() const { return size() == 0; }        // true if there are no elements

  // Returns the elements in row-major order, for writing. Copies them first if another tensor
  // shares them. Call it again before you write after a pass or a copy: do not keep the pointer.
  T* data() {
    if (is_bf16_ || buffer_.shared() || buffer_.has_derived()) prepare_write();
    return static_cast<T*>(buffer_.data());
  }
  // Returns the elements in row-major order, for reading. Call it before a loop instead of within.
  const T* data() const {
    if constexpr (std::floating_point<T>)
      if (is_bf16_) return widened();
    return static_cast<const T*>(buffer_.data());
  }
  // Returns the elements in row-major order. The span of a const tensor is for reading only.
  std::span<T> values() { return {data(), static_cast<std::size_t>(size())}; }
  std::span<const T> values() const { return {data(), static_cast<std::size_t>(size())}; }
  auto begin() { return values().begin(); }        // iterator to the first element
  auto end() { return values().end(); }            // iterator past the last element
  auto begin() const { return values().begin(); }  // iterator to the first element
  auto end() const { return values().end(); }      // iterator past the last element

  // Returns the element at a position, given one index per axis. Throws ShapeError if there is no
  // such element.
  template <class... Indices>
  T& operator()(Indices... indices) {
    return data()[offset({static_cast<Index>(indices)...})];
  }
  template <class... Indices>
  const T& operator()(Indices... indices) const {
    return data()[offset({static_cast<Index>(indices)...})];
  }
  // Returns the only element. Throws ShapeError unless there is exactly one.
  T item() const;

  void fill(T value);  // sets every element
  // Returns a copy that shares no memory with this tensor.
  Tensor clone() const;
  // Returns the same elements with another shape. One size may be -1 and is then inferred. Throws
  // ShapeError if the number of elements differs.
  Tensor reshaped(std::initializer_list<Index> sizes) const {
    return reshaped(std::span<const Index>(sizes.begin(), sizes.size()));
  }
  Tensor reshaped(std::span<const Index> sizes) const;
  Tensor reshaped(const Shape& shape) const;

  // Returns true if a write would first copy the elements: another tensor shares the memory, or
  // `bf16` is not null.
  bool shared() const { return is_bf16_ || buffer_.shared(); }

  // Returns a tensor of bf16 numbers, one for each element of `shape`, which `fill` writes. They
  // stay in 16 bits until they are written to. `linear` and `embedding` read them as they are. For
  // all other readers, the first call of `data` computes the elements as type T and keeps them,
  // too. The memory comes from `pool` unless it is null. Throws ShapeError if it cannot be
  // allocated, and ValueError unless T is float or double.
  static Tensor of_bf16(Shape shape, const std::function<void(std::span<std::uint16_t>)>& fill,
                        Pool* pool = nullptr);
  // Returns a tensor with the elements rounded to bf16 as by Precision::bf16, in 16 bits each, see
  // `of_bf16`. They are computed, in parallel, by the first call and by the first call after a
  // write, and kept with the elements. Throws ValueError unless T is float or double.
  Tensor rounded_to_bf16() const;
  // Returns the elements in 16 bits each, or null unless the tensor comes from `of_bf16` or
  // `rounded_to_bf16`.
  const std::uint16_t* bf16() const {
    return is_bf16_ ? static_cast<const std::uint16_t*>(buffer_.data()) : nullptr;
  }

 private:
  static inline const Shape no_elements{0};

  // Returns a tensor with uninitialized memory of `element_bytes` per element.
  static Tensor allocated(const Shape& shape, std::size_t element_bytes, Pool* pool);
  // Replaces shared memory and bf16 numbers by a copy of the elements, from the same pool. Marks
  // derived data as out of date.
  void prepare_write();
  // Returns bf16 numbers as type T, kept with them.
  const T* widened() const;
  Index offset(std::initializer_list<Index> indices) const;

  Shape shape_;
  Buffer buffer_;
  bool is_bf16_ = false;  // whether the buffer contains bf16 numbers
};

// Prints the elements in PyTorch's format: with 4 decimals or in scientific notation, in a common
// width, and with "..." in place of the middle if there are more than 1000 elements. Also prints
// the shape if the elements do not show it, and the type unless it is float (or bool).
//   std::cout << Tensor<float>({2, 2}, {1, 2.5, -3, 4});
//   // tensor([[ 1.0000,  2.5000],
//   //         [-3.0000,  4.0000]])
template <class T>
WEFT_API std::ostream& operator<<(std::ostream& out, const Tensor<T>& x);

// A token id: a position in a vocabulary.
using TokenId = std::int32_t;
using Tokens = Tensor<TokenId>;  // token ids, of any shape

extern template class Tensor<float>;
extern template class Tensor<double>;
extern template class Tensor<std::int32_t>;
extern template class Tensor<bool>;

}  // namespace weft
