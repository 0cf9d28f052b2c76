#include "train/hdf5/internal/types.hpp"

#include "weft/autograd/error.hpp"
#include "train/hdf5/internal/handle.hpp"

namespace weft::hdf5 {
namespace {

// IEEE 754 binary16, which the library does not predefine.
Handle float16() {
  Handle type(H5Tcopy(H5T_IEEE_F32LE));
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  return type;
}

std::string float_name(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  const Handle known =
      bytes == 2 ? float16() : Handle(H5Tcopy(bytes == 4 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE));
  if (H5Tequal(type, known) > 0) return concatenate_text("float", 8 * bytes);
  H5Tset_order(known, H5T_ORDER_BE);
  if (H5Tequal(type, known) > 0) return concatenate_text("big-endian float", 8 * bytes);
  return concatenate_text("unusual float of ", bytes, " bytes");
}

std::string integer_name(hid_t type) {
  const std::size_t bits = 8 * H5Tget_size(type);
  if (bits > 64 || H5Tget_precision(type) != bits)
    return concatenate_text("unusual integer of ", bits, " bits");
  const char* order = bits > 8 && H5Tget_order(type) == H5T_ORDER_BE ? "big-endian " : "";
  const char* sign = H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int";
  return concatenate_text(order, sign, bits);
}

// h5py writes bool as an enumeration of FALSE and TRUE, stored in one byte.
bool is_bool(hid_t type) {
  signed char no = -1;
  signed char yes = -1;
  return H5Tget_size(type) == 1 && H5Tget_nmembers(type) == 2 &&
         H5Tenum_valueof(type, "FALSE", &no) >= 0 && H5Tenum_valueof(type, "TRUE", &yes) >= 0 &&
         no == 0 && yes == 1;
}

}  // namespace

std::string type_name(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return float_name(type);
    case H5T_INTEGER:
      return integer_name(type);
    case H5T_ENUM:
      return is_bool(type) ? "bool" : "enumeration";
    case H5T_STRING:
      return "string";
    case H5T_COMPOUND:
      return "compound";
    case H5T_REFERENCE:
      return "reference";
    case H5T_ARRAY:
      return "array";
    case H5T_VLEN:
      return "variable-length array";
    case H5T_OPAQUE:
      return "opaque";
    case H5T_BITFIELD:
      return "bit field";
    default:
      return "unknown";
  }
}

}  // namespace weft::hdf5
