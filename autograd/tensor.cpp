#include "weft/autograd/tensor.hpp"

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <ostream>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/parallel.hpp"
#include "autograd/internal/bfloat16.hpp"
#include "autograd/internal/tensor_text.hpp"

namespace weft {

namespace {

// Sets bytes to zeros. On Linux, large memory is returned to the system instead and reads as zeros
// when it is next used. Weights that are loaded later then occupy memory, and take time, only once.
void set_zeros(std::byte* begin, std::size_t bytes) {
#ifdef __linux__
  constexpr std::size_t large = 1 << 20;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (bytes >= std::max(large, 2 * page)) {
    const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(begin) % page) % page;
    const std::size_t pages = (bytes - before) / page * page;
    if (madvise(begin + before, pages, MADV_DONTNEED) == 0) {
      std::memset(begin, 0, before);
      std::memset(begin + before + pages, 0, bytes - before - pages);
      return;
    }
  }
#endif
  std::memset(begin, 0, bytes);
}

template <class T>
void widen(Index n, const std::uint16_t* from, T* to) {
  if constexpr (std::floating_point<T>)
    parallel_for(n, grain_of(4), [=](Index begin, Index end) {
      widen_bfloat16(end - begin, from + begin, to + begin);
    });
}

template <class T>
void round(Index n, const T* from, std::uint16_t* to) {
  if constexpr (std::floating_point<T>)
    parallel_for(n, grain_of(4), [=](Index begin, Index end) {
      round_to_bfloat16(end - begin, from + begin, to + begin);
    });
}

template <class T>
void check_can_be_bf16(const char* context) {
  if (!std::floating_point<T>)
    weft::fail<ValueError>(context, "a tensor of float or double", "another type");
}

}  // namespace

template <class T>
Tensor<T>::Tensor(Shape shape) : Tensor(uninitialized(shape)) {
  set_zeros(reinterpret_cast<std::byte*>(data()), static_cast<std::size_t>(size()) * sizeof(T));
}

template <class T>
Tensor<T>::Tensor(Shape shape, std::span<const T> values) : Tensor(uninitialized(shape)) {
  if (static_cast<Index>(values.size()) != size())
    fail<ShapeError>("tensor", str_cat(size(), " values for shape ", shape), values.size());
  std::copy(values.begin(), values.end(), begin());
}

template <class T>
Tensor<T> Tensor<T>::full(Shape shape, T value) {
  Tensor tensor = uninitialized(shape);
  tensor.fill(value);
  return tensor;
}

template <class T>
Tensor<T> Tensor<T>::uninitialized(Shape shape, Pool* pool) {
  return allocated(shape, sizeof(T), pool);
}

template <class T>
Tensor<T> Tensor<T>::allocated(const Shape& shape, std::size_t element_bytes, Pool* pool) {
  Tensor tensor;
  try {
    tensor.buffer_ = Buffer(static_cast<std::size_t>(shape.elements()) * element_bytes, pool);
  } catch (const std::bad_alloc&) {
    weft::fail<ShapeError>("tensor", "a shape that fits into memory", shape);
  }
  tensor.shape_ = shape;
  return tensor;
}

template <class T>
void Tensor<T>::prepare_write() {
  if (!is_bf16_ && !buffer_.shared()) return buffer_.outdate();
  Buffer own(static_cast<std::size_t>(size()) * sizeof(T), buffer_.pool());
  auto* const to = static_cast<T*>(own.data());
  if (is_bf16_)
    widen(size(), bf16(), to);
  else
    std::copy_n(static_cast<const T*>(buffer_.data()), size(), to);
  buffer_ = std::move(own);
  is_bf16_ = false;
}

template <class T>
const T* Tensor<T>::widened() const {
  const Buffer elements =
      buffer_.derived(static_cast<std::size_t>(size()) * sizeof(T),
                      [&](void* to) { widen(size(), bf16(), static_cast<T*>(to)); });
  return static_cast<const T*>(elements.data());
}

template <class T>
Tensor<T> Tensor<T>::of_bf16(Shape shape, const std::function<void(std::span<std::uint16_t>)>& fill,
                             Pool* pool) {
  check_can_be_bf16<T>("of_bf16");
  Tensor tensor = allocated(shape, sizeof(std::uint16_t), pool);
  tensor.is_bf16_ = true;
  fill({static_cast<std::uint16_t*>(tensor.buffer_.data()),
        static_cast<std::size_t>(tensor.size())});
  return tensor;
}

template <class T>
Tensor<T> Tensor<T>::rounded_to_bf16() const {
  check_can_be_bf16<T>("rounded_to_bf16");
  if (is_bf16_ || empty()) return *this;
  Tensor rounded;
  rounded.shape_ = shape_;
  rounded.is_bf16_ = true;
  const std::size_t bytes = static_cast<std::size_t>(size()) * sizeof(std::uint16_t);
  rounded.buffer_ = buffer_.derived(
      bytes, [&](void* to) { round(size(), data(), static_cast<std::uint16_t*>(to)); });
  return rounded;
}

template <class T>
T Tensor<T>::item() const {
  if (size() != 1) weft::fail<ShapeError>("item", "a tensor of one element", shape_);
  return *data();
}

template <class T>
void Tensor<T>::fill(T value) {
  std::fill(begin(), end(), value);
}

template <class T>
Tensor<T> Tensor<T>::clone() const {
  return Tensor(shape_, values());
}

template <class T>
Tensor<T> Tensor<T>::reshaped(std::span<const Index> sizes) const {
  Shape shape;  // with 1 for the size to infer
  Index inferred_axis = -1;
  for (Index size : sizes) {
    if (size == -1 && std::exchange(inferred_axis, shape.rank()) != -1)
      weft::fail<ShapeError>("reshape", "at most one size of -1", "two");
    shape = shape.inserted(shape.rank(), size == -1 ? 1 : size, "reshape");
  }
  if (inferred_axis != -1) {
    if (shape.elements() == 0 || size() % shape.elements() != 0)
      weft::fail<ShapeError>(
          "reshape", str_cat("sizes that divide ", size(), ", the number of elements of ", shape_),
          str_cat("a product of ", shape.elements()));
    shape = shape.with(inferred_axis, size() / shape.elements());
  }
  return reshaped(shape);
}

template <class T>
Tensor<T> Tensor<T>::reshaped(const Shape& shape) const {
  if (shape.elements() != size())
    weft::fail<ShapeError>("reshape", str_cat("a shape with ", size(), " elements, like ", shape_),
                           shape);
  Tensor tensor = *this;
  tensor.shape_ = shape;
  return tensor;
}

template <class T>
Index Tensor<T>::offset(std::initializer_list<Index> indices) const {
  if (static_cast<Index>(indices.size()) != rank())
    weft::fail<ShapeError>("element", str_cat(rank(), " indices for shape ", shape_),
                           indices.size());
  Index offset = 0;
  Index axis = 0;
  for (Index index : indices) {
    const Index size = shape_[axis++];
    if (index < 0 || index >= size)
      weft::fail<ShapeError>("element", str_cat("indices within ", shape_),
                             str_cat(index, " on axis ", axis - 1));
    offset = offset * size + index;
  }
  return offset;
}

template <class T>
std::ostream& operator<<(std::ostream& out, const Tensor<T>& x) {
  return out << tensor_text(x.shape(), x.data());
}

template class Tensor<float>;
template class Tensor<double>;
template class Tensor<std::int32_t>;
template class Tensor<bool>;
template std::ostream& operator<<(std::ostream&, const Tensor<float>&);
template std::ostream& operator<<(std::ostream&, const Tensor<double>&);
template std::ostream& operator<<(std::ostream&, const Tensor<std::int32_t>&);
template std::ostream& operator<<(std::ostream&, const Tensor<bool>&);

}  // namespace weft
