#include "examples/h5weights/numbers.hpp"

#include <algorithm>

#include <weft/autograd/error.hpp>

namespace weft::h5weights {
namespace {

constexpr Index block_bytes = Index{4} << 20;
// Datasets are read in whole rows, so a row must fit into memory.
constexpr Index max_row_bytes = Index{1} << 30;

std::string without_byte_order(const std::string& type) {
  const std::string big_endian = "big-endian ";
  return type.starts_with(big_endian) ? type.substr(big_endian.size()) : type;
}

Index row_bytes(const Shape& shape, Index rows) {
  return std::max<Index>(1, shape.elements() / std::max<Index>(1, rows)) * Index{sizeof(double)};
}

}  // namespace

Kind kind_of(const std::string& full_type) {
  const std::string type = without_byte_order(full_type);
  if (type == "string") return Kind::text;
  if (!bytes_of_element(type) || type == "bool") return Kind::other;
  if (type.find("float") != type.npos) return Kind::floating;
  return type.ends_with("int64") || type == "uint32" ? Kind::wide_integer : Kind::integer;
}

std::optional<Index> bytes_of_element(const std::string& full_type) {
  const std::string type = without_byte_order(full_type);
  if (type == "bool") return 1;
  for (const char* kind : {"float", "bfloat", "int", "uint"})
    for (const Index bytes : {1, 2, 4, 8})
      if (type == kind + str_cat(8 * bytes)) return bytes;
  return std::nullopt;
}

Numbers::Numbers(const StoredDataset& dataset)
    : dataset_(dataset),
      kind_(kind_of(dataset.type())),
      shape_(dataset.shape()),
      rows_(shape_.rank() == 0 ? 1 : shape_[0]) {
  if (row_bytes(shape_, rows_) > max_row_bytes)
    fail<FileError>("dataset " + dataset.path(),
                    str_cat("rows of at most ", max_row_bytes, " bytes"), shape_);
}

Index Numbers::rows_in_block() const {
  return std::max<Index>(1, block_bytes / row_bytes(shape_, rows_));
}

Tensor<double> Numbers::read(Index first, Index last) const {
  const bool is_scalar = shape_.rank() == 0;
  if (kind_ == Kind::floating)
    return is_scalar ? dataset_.tensor<double>() : dataset_.rows<double>(first, last);
  const Tensor<std::int32_t> integers =
      is_scalar ? dataset_.tensor<std::int32_t>() : dataset_.rows<std::int32_t>(first, last);
  auto numbers = Tensor<double>::uninitialized(integers.shape());
  std::copy(integers.begin(), integers.end(), numbers.begin());
  return numbers;
}

}  // namespace weft::h5weights
