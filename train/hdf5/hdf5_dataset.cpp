#include "weft/train/hdf5/hdf5_dataset.hpp"

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "train/hdf5/internal/elements.hpp"
#include "train/hdf5/internal/stored_data.hpp"

namespace weft {

struct Hdf5Dataset::State {
  std::shared_ptr<const hdf5::SourceFile> file;
  std::string path;
  hdf5::ElementType type;
  hdf5::StoredData data;
  std::vector<std::byte> dataspace;
  std::once_flag located = {};

  hdf5::Location location() const { return {file->path(), path}; }
  Shape shape() const {
    return hdf5::at(location(), [&] { return hdf5::read_shape(hdf5::Cursor(dataspace)); });
  }

  // Finds the data, on the first call.
  const hdf5::StoredData& stored_data() {
    std::call_once(located, [&] {
      hdf5::Metadata metadata(*file);
      data.locate(metadata, shape(), type.bytes);
    });
    return data;
  }
  // Rows first … last - 1 as a tensor of shape `rows`.
  template <class T>
  Tensor<T> read(const Shape& rows, Index first, Index last) {
    return hdf5::at(location(), [&] {
      hdf5::check_convertible<T>(type);
      const hdf5::StoredData& stored = stored_data();
      Tensor<T> tensor = Tensor<T>::uninitialized(rows);
      T* const out = tensor.data();
      stored.read(*file, first, last, [&](Index begin, hdf5::Bytes elements) {
        hdf5::convert_elements(type, elements, out + begin, rows, begin);
      });
      return tensor;
    });
  }
};

namespace {

hdf5::ElementType checked_type(const hdf5::ObjectHeader& header) {
  if (const hdf5::ObjectKind kind = header.kind(); kind != hdf5::ObjectKind::dataset)
    hdf5::fail_structure("a dataset",
                         kind == hdf5::ObjectKind::group ? "a group" : "another object");
  return hdf5::read_element_type(header.require(hdf5::MessageType::datatype, "a type"));
}

}  // namespace

Hdf5Dataset::Hdf5Dataset(std::shared_ptr<const hdf5::SourceFile> file, std::string path,
                         const hdf5::ObjectHeader& header) {
  hdf5::ElementType type = checked_type(header);
  hdf5::StoredData data(header);
  const hdf5::Cursor space = header.require(hdf5::MessageType::dataspace, "a shape");
  state_.reset(new State{std::move(file),
                         std::move(path),
                         std::move(type),
                         std::move(data),
                         {space.rest().begin(), space.rest().end()}});
}

Hdf5Dataset::State& Hdf5Dataset::state() const {
  if (!state_) fail<ValueError>("Hdf5Dataset", "an open dataset", "one that was moved from");
  return *state_;
}

const std::string& Hdf5Dataset::path() const { return state().path; }
std::string Hdf5Dataset::location() const { return state().location().text(); }
std::string Hdf5Dataset::type() const { return state().type.name; }
Shape Hdf5Dataset::shape() const { return state().shape(); }

template <class T>
Tensor<T> Hdf5Dataset::tensor() const {
  return tensor<T>(shape());
}

template <class T>
Tensor<T> Hdf5Dataset::tensor(const Shape& expected) const {
  const Shape found = shape();
  if (found != expected)
    hdf5::fail_at(state().location(), concatenate_text("shape ", expected), found);
  return state().read<T>(found, 0, found.rank() == 0 ? 1 : found[0]);
}

template <class T>
Tensor<T> Hdf5Dataset::rows(Index first, Index last) const {
  const Shape all = shape();
  if (all.rank() == 0)
    hdf5::fail_at(state().location(), "rows, [n, …]", concatenate_text("shape ", all));
  if (!(0 <= first && first <= last && last <= all[0]))
    fail<ValueError>(location() + ": rows", concatenate_text("0 ≤ first ≤ last ≤ ", all[0]),
                     concatenate_text("first ", first, " and last ", last));
  return state().read<T>(all.with(0, last - first), first, last);
}

template <class T>
T Hdf5Dataset::value() const {
  const Shape found = shape();
  return hdf5::at(state().location(), [&] {
    if (found.elements() != 1) hdf5::fail_structure("one value", concatenate_text("shape ", found));
    std::vector<std::byte> element;
    state().stored_data().read(*state().file, 0, 1, [&](Index, hdf5::Bytes bytes) {
      element.assign(bytes.begin(), bytes.end());
    });
    hdf5::Metadata metadata(*state().file);
    return hdf5::convert_value<T>(metadata, state().type, found, element);
  });
}

template Tensor<float> Hdf5Dataset::tensor() const;
template Tensor<double> Hdf5Dataset::tensor() const;
template Tensor<std::int32_t> Hdf5Dataset::tensor() const;
template Tensor<bool> Hdf5Dataset::tensor() const;
template Tensor<float> Hdf5Dataset::tensor(const Shape&) const;
template Tensor<double> Hdf5Dataset::tensor(const Shape&) const;
template Tensor<std::int32_t> Hdf5Dataset::tensor(const Shape&) const;
template Tensor<bool> Hdf5Dataset::tensor(const Shape&) const;
template Tensor<float> Hdf5Dataset::rows(Index, Index) const;
template Tensor<double> Hdf5Dataset::rows(Index, Index) const;
template Tensor<std::int32_t> Hdf5Dataset::rows(Index, Index) const;
template double Hdf5Dataset::value() const;
template std::int64_t Hdf5Dataset::value() const;
template std::string Hdf5Dataset::value() const;

}  // namespace weft
