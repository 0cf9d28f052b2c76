#include "weft/train/hdf5/hdf5_dataset.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "train/hdf5/internal/dataset_state.hpp"
#include "train/hdf5/internal/dataspace.hpp"
#include "train/hdf5/internal/elements.hpp"

namespace weft {
using hdf5::Location;
using hdf5::MessageType;

namespace {

const hdf5::ObjectHeader& checked(const hdf5::ObjectHeader& header, const Location& location) {
  if (const hdf5::ObjectKind kind = header.kind(); kind != hdf5::ObjectKind::dataset)
    hdf5::fail_at(location, "a dataset",
                  kind == hdf5::ObjectKind::group ? "a group" : "another object");
  return header;
}

}  // namespace

Hdf5Dataset::State::State(std::shared_ptr<const hdf5::SourceFile> in_file, std::string at_path,
                          const hdf5::ObjectHeader& header)
    : file(std::move(in_file)),
      path(std::move(at_path)),
      type(hdf5::read_element_type(
          checked(header, location()).require(MessageType::datatype, "a type", location()),
          location())),
      data(header, location()) {
  const hdf5::Bytes space = header.require(MessageType::dataspace, "a shape", location());
  dataspace.assign(space.begin(), space.end());
}

Shape Hdf5Dataset::State::shape() const { return hdf5::read_shape(dataspace, location()); }

const hdf5::StoredData& Hdf5Dataset::State::stored_data() {
  std::call_once(located, [this] {
    hdf5::Metadata metadata(*file);
    data.locate(metadata, shape(), type.bytes, location());
  });
  return data;
}

Hdf5Dataset::Hdf5Dataset(std::unique_ptr<State> state) : state_(std::move(state)) {}
Hdf5Dataset::Hdf5Dataset(Hdf5Dataset&&) noexcept = default;
Hdf5Dataset& Hdf5Dataset::operator=(Hdf5Dataset&&) noexcept = default;
Hdf5Dataset::~Hdf5Dataset() = default;

Hdf5Dataset::State& Hdf5Dataset::state() const {
  if (!state_) fail<ValueError>("Hdf5Dataset", "an open dataset", "one that was moved from");
  return *state_;
}

const std::string& Hdf5Dataset::path() const { return state().path; }
std::string Hdf5Dataset::location() const { return state().location().text(); }
std::string Hdf5Dataset::type() const { return state().type.name; }
Shape Hdf5Dataset::shape() const { return state().shape(); }

namespace {

// Rows first … last - 1 as a tensor of shape `rows`.
template <class T, class State>
Tensor<T> read_rows(State& state, const Shape& rows, Index first, Index last) {
  const Location location = state.location();
  hdf5::check_convertible<T>(state.type, location);
  const hdf5::StoredData& data = state.stored_data();
  Tensor<T> tensor = Tensor<T>::uninitialized(rows);
  T* const out = tensor.data();
  data.read(*state.file, first, last, location, [&](Index at, hdf5::Bytes elements) {
    hdf5::convert_elements(state.type, elements, out + at, rows, at, location);
  });
  return tensor;
}

}  // namespace

template <class T>
Tensor<T> Hdf5Dataset::tensor() const {
  return tensor<T>(shape());
}

template <class T>
Tensor<T> Hdf5Dataset::tensor(const Shape& expected) const {
  const Shape found = shape();
  if (found != expected)
    hdf5::fail_at(state().location(), concatenate_text("shape ", expected), found);
  return read_rows<T>(state(), found, 0, found.rank() == 0 ? 1 : found[0]);
}

template <class T>
Tensor<T> Hdf5Dataset::rows(Index first, Index last) const {
  const Shape all = shape();
  if (all.rank() == 0)
    hdf5::fail_at(state().location(), "rows, [n, …]", concatenate_text("shape ", all));
  if (!(0 <= first && first <= last && last <= all[0]))
    fail<ValueError>(state().location().text() + ": rows",
                     concatenate_text("0 ≤ first ≤ last ≤ ", all[0]),
                     concatenate_text("first ", first, " and last ", last));
  return read_rows<T>(state(), all.with(0, last - first), first, last);
}

template <class T>
T Hdf5Dataset::value() const {
  const Location location = state().location();
  const Shape found = shape();
  if (found.elements() != 1)
    hdf5::fail_at(location, "one value", concatenate_text("shape ", found));
  std::vector<std::byte> element;
  state().stored_data().read(*state().file, 0, 1, location, [&](Index, hdf5::Bytes bytes) {
    element.assign(bytes.begin(), bytes.end());
  });
  hdf5::Metadata metadata(*state().file);
  return hdf5::convert_value<T>(metadata, state().type, found, element, location);
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
