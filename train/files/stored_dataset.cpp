#include "weft/train/files/stored_dataset.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "train/files/hdf5/internal/elements.hpp"
#include "train/files/hdf5/internal/stored_data.hpp"

namespace weft {

StoredDataset::StoredDataset(std::shared_ptr<hdf5::DatasetSource> source)
    : source_(std::move(source)) {}

hdf5::DatasetSource& StoredDataset::source() const {
  if (!source_) fail<ValueError>("StoredDataset", "an open dataset", "a moved-from dataset");
  return *source_;
}

const std::string& StoredDataset::path() const { return source().path(); }
std::string StoredDataset::location() const { return source().location().text(); }
std::string StoredDataset::type() const { return source().type().name; }
Shape StoredDataset::shape() const {
  return hdf5::at(source().location(), [&] { return source().shape(); });
}

void StoredDataset::check_shape(const Shape& expected) const {
  if (const Shape found = shape(); found != expected)
    hdf5::fail_at(source().location(), str_cat("shape ", expected), found);
}

// Reads rows [first, last) as a tensor of shape `rows`.
template <class T>
Tensor<T> StoredDataset::read(const Shape& rows, Index first, Index last) const {
  return hdf5::at(source().location(), [&] {
    const hdf5::ElementType& type = source().type();
    hdf5::check_convertible<T>(type);
    source().locate();
    Tensor<T> tensor = Tensor<T>::uninitialized(rows);
    T* const out = tensor.data();
    source().read(first, last, [&](Index begin, hdf5::Bytes elements) {
      hdf5::convert_elements(type, elements, out + begin, rows, begin);
    });
    return tensor;
  });
}

template <class T>
Tensor<T> StoredDataset::tensor() const {
  return tensor<T>(shape());
}

template <class T>
Tensor<T> StoredDataset::tensor(const Shape& expected) const {
  check_shape(expected);
  return read<T>(expected, 0, expected.rank() == 0 ? 1 : expected[0]);
}

template <class T>
Tensor<T> StoredDataset::bf16_tensor(const Shape& expected) const {
  check_shape(expected);
  return hdf5::at(source().location(), [&] {
    const hdf5::ElementType& type = source().type();
    if (type.name != "bfloat16") hdf5::fail_structure("elements of type bfloat16", type.name);
    source().locate();
    return Tensor<T>::of_bf16(expected, [&](std::span<std::uint16_t> numbers) {
      source().read(0, expected.rank() == 0 ? 1 : expected[0],
                    [to = numbers.data()](Index first, hdf5::Bytes elements) {
                      std::memcpy(to + first, elements.data(), elements.size());
                    });
    });
  });
}

template <class T>
Tensor<T> StoredDataset::rows(Index first, Index last) const {
  const Shape all = shape();
  if (all.rank() == 0) hdf5::fail_at(source().location(), "rows, [n, …]", str_cat("shape ", all));
  if (!(0 <= first && first <= last && last <= all[0]))
    fail<ValueError>(location() + ": rows", str_cat("0 ≤ first ≤ last ≤ ", all[0]),
                     str_cat("first ", first, " and last ", last));
  return read<T>(all.with(0, last - first), first, last);
}

template <class T>
T StoredDataset::value() const {
  const Shape found = shape();
  return hdf5::at(source().location(), [&] {
    if (found.elements() != 1) hdf5::fail_structure("one value", str_cat("shape ", found));
    if (!source().hdf5_file()) hdf5::fail_structure("a value of an HDF5 file", "a tensor");
    std::vector<std::byte> element;
    source().locate();
    source().read(0, 1,
                  [&](Index, hdf5::Bytes bytes) { element.assign(bytes.begin(), bytes.end()); });
    hdf5::Metadata metadata(*source().hdf5_file());
    return hdf5::convert_value<T>(metadata, source().type(), found, element);
  });
}

template Tensor<float> StoredDataset::tensor() const;
template Tensor<double> StoredDataset::tensor() const;
template Tensor<std::int32_t> StoredDataset::tensor() const;
template Tensor<bool> StoredDataset::tensor() const;
template Tensor<float> StoredDataset::tensor(const Shape&) const;
template Tensor<double> StoredDataset::tensor(const Shape&) const;
template Tensor<std::int32_t> StoredDataset::tensor(const Shape&) const;
template Tensor<bool> StoredDataset::tensor(const Shape&) const;
template Tensor<float> StoredDataset::bf16_tensor(const Shape&) const;
template Tensor<double> StoredDataset::bf16_tensor(const Shape&) const;
template Tensor<float> StoredDataset::rows(Index, Index) const;
template Tensor<double> StoredDataset::rows(Index, Index) const;
template Tensor<std::int32_t> StoredDataset::rows(Index, Index) const;
template double StoredDataset::value() const;
template std::int64_t StoredDataset::value() const;
template std::string StoredDataset::value() const;

}  // namespace weft
