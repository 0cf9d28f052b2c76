#include "train/weights/internal/stored_form.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/finite.hpp"
#include "weft/autograd/parallel.hpp"
#include "autograd/internal/bfloat16.hpp"

namespace weft {
namespace {

constexpr Index block_bytes = Index{4} << 20;

// Returns whether the axes of a shape can be merged into two axes of sizes `rows` and `columns`.
bool merges_to(const Shape& shape, Index rows, Index columns) {
  Index before = 1;
  for (Index axis = 0; axis < shape.rank(); ++axis) {
    before *= shape[axis];
    if (before == rows && shape.elements() == rows * columns) return true;
  }
  return false;
}

// Consecutive elements of a dataset. `first` is the index of the first of them in the dataset.
template <class T>
struct Block {
  Index first;
  std::span<const T> elements;

  Index end() const { return first + std::ssize(elements); }
};

template <class T>
bool is_finite(std::span<const T> elements) {
  std::atomic<bool> finite = true;
  parallel_for(std::ssize(elements), Index{1} << 16, [&](Index begin, Index end) {
    if (!all_finite(elements.data() + begin, end - begin)) finite = false;
  });
  return finite;
}

template <class T>
bool is_finite(const Tensor<T>& values) {
  const std::uint16_t* const bf16 = values.bf16();
  if (!bf16) return is_finite(values.values());
  std::atomic<bool> finite = true;
  parallel_for(values.size(), Index{1} << 16, [&](Index begin, Index end) {
    constexpr std::uint16_t exponent = 0x7F80;
    std::uint16_t largest = 0;
    for (Index i = begin; i < end; ++i)
      largest = std::max(largest, static_cast<std::uint16_t>(bf16[i] & exponent));
    if (largest == exponent) finite = false;
  });
  return finite;
}

template <class T>
void check_block(const StoredDataset& dataset, const Shape& shape, const Block<T>& block) {
  if (is_finite(block.elements)) return;
  const Index i = first_non_finite(block.elements);
  fail<NonFiniteError>(dataset.location(), "finite numbers",
                       str_cat(block.elements[static_cast<std::size_t>(i)], " at ",
                               shape.position(block.first + i), " of ", shape));
}

// Calls `use` for consecutive blocks of rows until the whole dataset has been read.
template <class T, class Use>
void for_each_block(const StoredDataset& dataset, const Use& use) {
  const Shape shape = dataset.shape();
  if (shape.elements() == 0) return;
  const Index count = shape.rank() == 0 ? 1 : shape[0], row = shape.elements() / count;
  const Index rows = std::max<Index>(1, block_bytes / (row * Index{sizeof(T)}));
  for (Index first = 0; first < count; first += rows) {
    const Tensor<T> values = shape.rank() == 0
                                 ? dataset.tensor<T>(shape)
                                 : dataset.rows<T>(first, std::min(first + rows, count));
    const Block<T> block{first * row, values.values()};
    check_block(dataset, shape, block);
    use(block);
  }
}

// Returns the elements of a block that belong to a part of this size, which is not transposed.
// `first` of the result is an index in the part.
template <class T>
Block<T> in_part(const Block<T>& block, Index size, Index part) {
  const Index offset = part * size, begin = std::clamp<Index>(block.first - offset, 0, size),
              end = std::clamp<Index>(block.end() - offset, 0, size);
  if (begin == end) return {begin, {}};
  return {begin, block.elements.subspan(static_cast<std::size_t>(begin + offset - block.first),
                                        static_cast<std::size_t>(end - begin))};
}

// Writes the transpose of a matrix [rows, columns]. A stride is the distance between the starts of
// consecutive rows.
template <class T>
void transpose(Index rows, Index columns, const T* from, Index from_stride, T* to,
               Index to_stride) {
  constexpr Index strip = 16;  // the number of columns read, and of rows written, at a time
  parallel_for((columns + strip - 1) / strip, grain_of(strip * rows), [&](Index begin, Index end) {
    for (Index first = begin * strip; first < std::min(end * strip, columns); first += strip)
      for (Index row = 0; row < rows; ++row)
        for (Index column = first; column < std::min(first + strip, columns); ++column)
          to[column * to_stride + row] = from[row * from_stride + column];
  });
}

// Copies the elements of a block that belong to one part to their positions in this part.
template <class T>
void scatter(const Block<T>& block, const StoredForm& form, Index part, T* to) {
  if (form.is_transposed) {
    const Index columns = form.parameter[1], rows = form.part_size() / columns,
                width = form.parts * rows;
    const Index first = block.first / width, last = block.end() / width;
    return transpose(last - first, rows, block.elements.data() + part * rows, width, to + first,
                     columns);
  }
  const Block<T> own = in_part(block, form.part_size(), part);
  std::ranges::copy(own.elements, to + own.first);
}

Shape reversed(const Shape& shape) {
  std::vector<Index> sizes(shape.begin(), shape.end());
  std::ranges::reverse(sizes);
  return Shape(sizes);
}

// Returns a tensor [a, b, c] as [c, b, a].
template <class T>
Tensor<T> with_reversed_axes(const Tensor<T>& values) {
  const Shape& shape = values.shape();
  Tensor<T> result = Tensor<T>::uninitialized(reversed(shape));
  const Index outer = shape[0], middle = shape[1], inner = shape[2];
  for (Index i = 0; i < middle; ++i)
    transpose(outer, inner, values.data() + i * inner, middle * inner, result.data() + i * outer,
              middle * outer);
  return result;
}

}  // namespace

bool is_float(const std::string& type) {
  return type.ends_with("float16") || type.ends_with("float32") || type.ends_with("float64");
}

Shape StoredForm::dataset() const {
  if (is_reversed) return reversed(parameter);
  if (parts == 1) return is_transposed ? Shape{parameter[1], parameter[0]} : parameter;
  if (parameter.rank() == 0) return {parts};
  const Index rows = parameter[0] / std::ssize(own) * parts;
  return is_transposed ? Shape{parameter[1], rows} : parameter.with(0, rows);
}

Index StoredForm::part_size() const { return parameter.elements() / std::ssize(own); }

bool StoredForm::fits(const Shape& found) const {
  const Shape expected = dataset();
  if (found == expected || is_first_part(found)) return true;
  if (!splits_axes || is_reversed) return false;
  if (expected.rank() == 1) return found.elements() == expected[0];
  return expected.rank() == 2 && merges_to(found, expected[0], expected[1]);
}

template <class T>
void read_stored(const StoredDataset& dataset, std::span<StoredTensor<T>> tensors) {
  const StoredForm& form = tensors.front().form;
  const Shape shape = dataset.shape();
  const bool is_whole = !form.is_transposed && (form.parts == 1 || form.is_first_part(shape));
  // Matrices of bf16 numbers stay in 16 bits.
  const bool is_bf16 = dataset.type() == "bfloat16" && form.parameter.rank() == 2;
  for (StoredTensor<T>& tensor : tensors)
    if (is_whole && tensor.form.own.front() == 0) {
      Tensor<T> values = is_bf16 ? dataset.bf16_tensor<T>(shape) : dataset.tensor<T>(shape);
      if (!is_finite(values))
        check_block(dataset, shape, Block<T>{0, std::as_const(values).values()});
      if (form.is_reversed) values = with_reversed_axes(values);
      tensor.value = values.shape() == tensor.form.parameter
                         ? std::move(values)
                         : values.reshaped(tensor.form.parameter);
    } else {
      tensor.value = is_whole ? Tensor<T>(tensor.form.parameter)
                              : Tensor<T>::uninitialized(tensor.form.parameter);
    }
  if (is_whole) return;
  for_each_block<T>(dataset, [&](const Block<T>& block) {
    for (auto& [own_form, value] : tensors) {
      for (T* to = value.data(); const Index part : own_form.own) {
        scatter(block, own_form, part, to);
        to += own_form.part_size();
      }
    }
  });
  if (is_bf16)
    for (StoredTensor<T>& tensor : tensors)
      tensor.value =
          Tensor<T>::of_bf16(tensor.value.shape(), [&](std::span<std::uint16_t> numbers) {
            std::ranges::transform(std::as_const(tensor.value), numbers.begin(),
                                   [](T value) { return bfloat16_of(static_cast<float>(value)); });
          });
}

template <class T>
bool has_values(const StoredDataset& dataset, const StoredForm& form, const Tensor<T>& values) {
  if (form.is_transposed || form.is_reversed) {
    StoredTensor<T> tensor{form};
    read_stored<T>(dataset, {&tensor, 1});
    return std::ranges::equal(std::as_const(tensor.value).values(), values.values());
  }
  bool are_equal = true;
  Tensor<T> copy = values;
  if (copy.bf16()) copy.data();  // as type T, which `values` does not keep
  for_each_block<T>(dataset, [&](const Block<T>& block) {
    for (const T* own = std::as_const(copy).data(); const Index part : form.own) {
      const auto [first, elements] = in_part(block, form.part_size(), part);
      are_equal = are_equal && std::equal(elements.begin(), elements.end(), own + first);
      own += form.part_size();
    }
  });
  return are_equal;
}

template <class T>
Tensor<T> stored(std::span<const StoredTensor<T>> parts) {
  const StoredForm& first = parts.front().form;
  if (!first.is_transposed && first.parts == 1) return parts.front().value;
  Tensor<T> dataset = Tensor<T>::uninitialized(first.dataset());
  for (const auto& [form, value] : parts) {
    const Index size = form.part_size();
    const T* from = value.data();
    for (const Index part : form.own) {
      if (form.is_transposed) {
        const Index columns = form.parameter[1], rows = size / columns;
        transpose(rows, columns, from, columns, dataset.data() + part * rows, form.parts * rows);
      } else {
        std::copy_n(from, size, dataset.data() + part * size);
      }
      from += size;
    }
  }
  return dataset;
}

template void read_stored(const StoredDataset&, std::span<StoredTensor<float>>);
template void read_stored(const StoredDataset&, std::span<StoredTensor<double>>);
template bool has_values(const StoredDataset&, const StoredForm&, const Tensor<float>&);
template bool has_values(const StoredDataset&, const StoredForm&, const Tensor<double>&);
template Tensor<float> stored(std::span<const StoredTensor<float>>);
template Tensor<double> stored(std::span<const StoredTensor<double>>);

}  // namespace weft
