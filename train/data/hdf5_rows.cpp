#include "weft/train/data/hdf5_rows.hpp"

#include <algorithm>

#include "weft/autograd/error.hpp"
#include "weft/train/files/hdf5/hdf5_file.hpp"
#include "train/data/internal/fingerprint.hpp"

namespace weft {

template <class E>
Hdf5Rows<E>::Hdf5Rows(const std::filesystem::path& file, const std::string& dataset)
    : dataset_(Hdf5File(file).dataset(dataset)), shape_(dataset_.shape()) {
  if (shape_.rank() == 0)
    fail<FileError>(str_cat(file.string(), ": ", dataset_.path()), "a dataset of rows, [n, …]",
                    "a single element");
}

template <class E>
Tensor<E> Hdf5Rows<E>::read(Index first, Index last) const {
  return dataset_.template rows<E>(first, last);
}

template <class E>
std::uint64_t Hdf5Rows<E>::fingerprint() const {
  constexpr Index places = 64;
  Fingerprint fingerprint;
  fingerprint.add(shape_);
  const Index step = std::max<Index>(shape_[0] / places, 1);
  for (Index row = 0; row < shape_[0]; row += step) fingerprint.add(read(row, row + 1));
  return fingerprint.value();
}

template class Hdf5Rows<float>;
template class Hdf5Rows<double>;
template class Hdf5Rows<TokenId>;

}  // namespace weft
