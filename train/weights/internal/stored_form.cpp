#include "train/weights/internal/stored_form.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/finite.hpp"
#include "weft/autograd/parallel.hpp"

namespace weft {
namespace {

constexpr Index block_bytes = Index{4} << 20;

// Returns whether the sizes of consecutive axes of a shape, multiplied, are these of two axes.
bool merges_to(const Shape& shape, Index rows, Index columns) {
  Index before = 1;
  for (Index axis = 0; axis < shape.rank(); ++axis) {
    before *= shape[axis];
    if (before == rows && shape.elements() == rows * columns) return true;
  }
  return false;
}

// Consecutive rows of a dataset: `elements`, the first of which is number `first` in it.
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
void check_block(const std::string& what, const Shape& shape, const Block<T>& block) {
  if (is_finite(block.elements)) return;
  const Index i = first_non_finite(block.elements);
  fail<NonFiniteError>(what, "finite numbers",
                       concatenate_text(block.elements[static_cast<std::size_t>(i)], " at ",
                                        shape.position(block.first + i), " of ", shape));
}

// Calls `use` for all rows of a dataset, in blocks.
template <class T, class Use>
void for_each_block(const Hdf5Dataset& dataset, const std::string& what, const Use& use) {
  const Shape shape = dataset.shape();
  if (shape.elements() == 0) return;
  if (shape.rank() == 0) {
    const Tensor<T> value = dataset.tensor<T>(shape);
    check_block(what, shape, Block<T>{0, value.values()});
    return use(Block<T>{0, value.values()});
  }
  const Index row = shape.elements() / shape[0];
  const Index rows = std::max<Index>(1, block_bytes / (row * Index{sizeof(T)}));
  for (Index first = 0; first < shape[0]; first += rows) {
    const Tensor<T> values = dataset.rows<T>(first, std::min(first + rows, shape[0]));
    const Block<T> block{first * row, values.values()};
    check_block(what, shape, block);
    use(block);
  }
}

// What a block contains of a parameter that is not transposed: elements begin … end of it.
template <class T>
struct Overlap {
  Overlap(const StoredForm& form, const Block<T>& block) {
    const Index size = form.parameter.elements(), offset = form.part * size;
    begin = std::clamp<Index>(block.first - offset, 0, size);
    end = std::clamp<Index>(block.end() - offset, 0, size);
    elements = block.elements.data() +
               std::clamp<Index>(begin + offset - block.first, 0, std::ssize(block.elements));
  }

  Index begin, end;
  const T* elements;
};

// A matrix in rows of which each is `stride` elements after the one before.
template <class T>
struct Rows {
  T* elements;
  Index stride;
};

// Writes the transpose of a matrix [rows, columns].
template <class T>
void transpose(Index rows, Index columns, Rows<const T> from, Rows<T> to) {
  constexpr Index strip = 16;  // columns that are read at a time: rows that are written
  parallel_for((columns + strip - 1) / strip, grain_of(strip * rows), [&](Index begin, Index end) {
    for (Index first = begin * strip; first < std::min(end * strip, columns); first += strip)
      for (Index row = 0; row < rows; ++row)
        for (Index column = first; column < std::min(first + strip, columns); ++column)
          to.elements[column * to.stride + row] = from.elements[row * from.stride + column];
  });
}

// The parts of the rows of a tensor in another order, of which it says where each is.
template <class T>
Tensor<T> in_order(const Tensor<T>& tensor, const std::vector<Index>& order) {
  Tensor<T> result = Tensor<T>::uninitialized(tensor.shape());
  const Index size = tensor.size() / std::ssize(order);
  T* to = result.data();
  for (const Index part : order) to = std::copy_n(tensor.data() + part * size, size, to);
  return result;
}

template <class T>
void scatter(const Block<T>& block, StoredTensor<T>& tensor) {
  const StoredForm& form = tensor.form;
  if (form.is_transposed) {
    const Index rows = form.parameter[0], columns = form.parameter[1], width = form.parts * rows;
    const Index first = block.first / width, last = block.end() / width;
    return transpose<T>(last - first, rows, {block.elements.data() + form.part * rows, width},
                        {tensor.value.data() + first, columns});
  }
  const Overlap<T> overlap(form, block);
  std::copy_n(overlap.elements, overlap.end - overlap.begin, tensor.value.data() + overlap.begin);
}

}  // namespace

bool is_float(const std::string& type) {
  return type.ends_with("float16") || type.ends_with("float32") || type.ends_with("float64");
}

Shape StoredForm::dataset() const {
  if (is_transposed) return {parameter[1], parts * parameter[0]};
  if (parts == 1) return parameter;
  return parameter.rank() == 0 ? Shape{parts} : parameter.with(0, parts * parameter[0]);
}

bool StoredForm::fits(const Shape& found) const {
  const Shape expected = dataset();
  if (found == expected || is_first_part(found)) return true;
  if (!splits_axes) return false;
  if (expected.rank() == 1) return found.elements() == expected[0];
  return expected.rank() == 2 && merges_to(found, expected[0], expected[1]);
}

template <class T>
void read_stored(const Hdf5Dataset& dataset, const std::string& what,
                 std::span<StoredTensor<T>> tensors) {
  const StoredForm& form = tensors.front().form;
  const Shape shape = dataset.shape();
  const bool is_whole =
      !form.is_transposed && (form.parts == 1 || form.is_first_part(shape)) && form.order.empty();
  for (StoredTensor<T>& tensor : tensors)
    if (is_whole && tensor.form.part == 0) {
      Tensor<T> values = dataset.tensor<T>(shape);
      check_block(what, shape, Block<T>{0, std::as_const(values).values()});
      tensor.value = shape == tensor.form.parameter ? std::move(values)
                                                    : values.reshaped(tensor.form.parameter);
    } else {
      tensor.value = is_whole ? Tensor<T>(tensor.form.parameter)
                              : Tensor<T>::uninitialized(tensor.form.parameter);
    }
  if (is_whole) return;
  for_each_block<T>(dataset, what, [&](const Block<T>& block) {
    for (StoredTensor<T>& tensor : tensors) scatter(block, tensor);
  });
  for (auto& [tensor_form, value] : tensors)
    if (!tensor_form.order.empty()) value = in_order(std::as_const(value), tensor_form.order);
}

template <class T>
bool has_values(const Hdf5Dataset& dataset, const std::string& what, const StoredForm& form,
                const Tensor<T>& values) {
  if (form.is_transposed || !form.order.empty()) {
    StoredTensor<T> tensor{form};
    read_stored<T>(dataset, what, {&tensor, 1});
    return std::ranges::equal(std::as_const(tensor.value).values(), values.values());
  }
  bool are_equal = true;
  for_each_block<T>(dataset, what, [&](const Block<T>& block) {
    const Overlap<T> overlap(form, block);
    are_equal = are_equal && std::equal(values.data() + overlap.begin, values.data() + overlap.end,
                                        overlap.elements);
  });
  return are_equal;
}

template <class T>
Tensor<T> stored(std::span<const StoredTensor<T>> parts) {
  const StoredForm& first = parts.front().form;
  if (!first.is_transposed && first.parts == 1) return parts.front().value;
  Tensor<T> dataset = Tensor<T>::uninitialized(first.dataset());
  for (const auto& [form, value] : parts) {
    if (form.is_transposed) {
      const Index rows = form.parameter[0], columns = form.parameter[1];
      transpose<T>(rows, columns, {value.data(), columns},
                   {dataset.data() + form.part * rows, form.parts * rows});
    } else {
      std::copy_n(value.data(), value.size(), dataset.data() + form.part * value.size());
    }
  }
  return dataset;
}

template void read_stored(const Hdf5Dataset&, const std::string&, std::span<StoredTensor<float>>);
template void read_stored(const Hdf5Dataset&, const std::string&, std::span<StoredTensor<double>>);
template bool has_values(const Hdf5Dataset&, const std::string&, const StoredForm&,
                         const Tensor<float>&);
template bool has_values(const Hdf5Dataset&, const std::string&, const StoredForm&,
                         const Tensor<double>&);
template Tensor<float> stored(std::span<const StoredTensor<float>>);
template Tensor<double> stored(std::span<const StoredTensor<double>>);

}  // namespace weft
