#include "weft/train/hdf5/hdf5_dataset.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "train/hdf5/internal/dataset_state.hpp"
#include "train/hdf5/internal/elements.hpp"
#include "train/hdf5/internal/storage.hpp"
#include "train/hdf5/internal/types.hpp"

namespace weft {
using hdf5::checked_handle;
using hdf5::Handle;
using hdf5::LibraryLock;
using hdf5::Location;

Hdf5Dataset::State::State(const std::filesystem::path& in_file, std::string at_path, Handle object)
    : file(in_file), path(std::move(at_path)), handle(std::move(object)) {
  if (H5Iget_type(handle) != H5I_DATASET)
    hdf5::fail_at(location(), "a dataset",
                  H5Iget_type(handle) == H5I_GROUP ? "a group" : "another object");
  const Handle properties = checked_handle(H5Dget_create_plist(handle), location(), "a layout");
  hdf5::check_layout(properties, location());
}

namespace {

Handle type_of(hid_t dataset, const Location& location) {
  return checked_handle(H5Dget_type(dataset), location, "a type");
}

// The elements, after a check that all of them can be read.
hdf5::Elements stored_elements(hid_t dataset, const Shape& shape, const Location& location) {
  hdf5::check_storage(dataset, shape, location);
  return {location, type_of(dataset, location), shape, [dataset](hid_t memory_type, void* data) {
            return H5Dread(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
          }};
}

}  // namespace

Hdf5Dataset::Hdf5Dataset(std::unique_ptr<State> state) : state_(std::move(state)) {}
Hdf5Dataset::Hdf5Dataset(Hdf5Dataset&&) noexcept = default;
Hdf5Dataset& Hdf5Dataset::operator=(Hdf5Dataset&&) noexcept = default;
Hdf5Dataset::~Hdf5Dataset() = default;

Hdf5Dataset::State& Hdf5Dataset::state() const {
  if (!state_) fail<ValueError>("Hdf5Dataset", "an open dataset", "one that was moved from");
  return *state_;
}

const std::string& Hdf5Dataset::path() const { return state().path; }

std::string Hdf5Dataset::type() const {
  const LibraryLock lock;
  return hdf5::type_name(type_of(state().handle, state().location()));
}

Shape Hdf5Dataset::shape() const {
  const LibraryLock lock;
  const Handle space = checked_handle(H5Dget_space(state().handle), state().location(), "a shape");
  return hdf5::shape_of(space, state().location());
}

template <class T>
Tensor<T> Hdf5Dataset::tensor() const {
  return tensor<T>(shape());
}

template <class T>
Tensor<T> Hdf5Dataset::tensor(const Shape& expected) const {
  const LibraryLock lock;
  const Location location = state().location();
  if (const Shape found = shape(); found != expected)
    hdf5::fail_at(location, concatenate_text("shape ", expected), found);
  const hdf5::Elements elements = stored_elements(state().handle, expected, location);
  Tensor<T> tensor = Tensor<T>::uninitialized(expected);
  hdf5::read_elements(elements, tensor.data());
  return tensor;
}

template <class T>
Tensor<T> Hdf5Dataset::rows(Index first, Index last) const {
  const LibraryLock lock;
  const Location location = state().location();
  const Shape all = shape();
  if (all.rank() == 0) hdf5::fail_at(location, "rows, [n, …]", concatenate_text("shape ", all));
  if (!(0 <= first && first <= last && last <= all[0]))
    fail<ValueError>(location.text() + ": rows", concatenate_text("0 ≤ first ≤ last ≤ ", all[0]),
                     concatenate_text("first ", first, " and last ", last));
  if (!state().storage_checked) hdf5::check_storage(state().handle, all, location);
  state().storage_checked = true;
  Tensor<T> rows = Tensor<T>::uninitialized(all.with(0, last - first));
  std::vector<hsize_t> start(static_cast<std::size_t>(all.rank())), count(start.size());
  for (Index axis = 0; axis < all.rank(); ++axis)
    count[static_cast<std::size_t>(axis)] = static_cast<hsize_t>(rows.shape()[axis]);
  start[0] = static_cast<hsize_t>(first);
  const auto read = [&, dataset = hid_t{state().handle}](hid_t memory_type, void* data) {
    const Handle in_file = checked_handle(H5Dget_space(dataset), location, "a shape");
    const Handle in_memory = checked_handle(
        H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), location, "rows");
    if (H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) <
        0)
      return herr_t{-1};
    return H5Dread(dataset, memory_type, in_memory, in_file, H5P_DEFAULT, data);
  };
  hdf5::read_elements({location, type_of(state().handle, location), rows.shape(), read},
                      rows.data());
  return rows;
}

template <class T>
T Hdf5Dataset::value() const {
  const LibraryLock lock;
  const Location location = state().location();
  return hdf5::read_value<T>(stored_elements(state().handle, shape(), location));
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
