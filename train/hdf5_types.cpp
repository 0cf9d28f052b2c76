#include <array>

#include "train/hdf5_elements.hpp"

namespace weft::hdf5 {
namespace {

// IEEE 754's binary16, which the library has no name for.
Handle float16() {
  Handle type(H5Tcopy(H5T_IEEE_F32LE));
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  return type;
}

std::string float_name(hid_t type) {
  struct Known {
    const char* name;
    Handle type;
  };
  const std::array<Known, 3> known{{{"float16", float16()},
                                    {"float32", Handle(H5Tcopy(H5T_IEEE_F32LE))},
                                    {"float64", Handle(H5Tcopy(H5T_IEEE_F64LE))}}};
  for (const Known& candidate : known) {
    if (H5Tequal(type, candidate.type) > 0) return candidate.name;
    H5Tset_order(candidate.type, H5T_ORDER_BE);
    if (H5Tequal(type, candidate.type) > 0) return concatenate_text("big-endian ", candidate.name);
  }
  return concatenate_text("unusual float of ", H5Tget_size(type), " bytes");
}

std::string integer_name(hid_t type) {
  const std::size_t bits = 8 * H5Tget_size(type);
  if (bits > 64 || H5Tget_precision(type) != bits)
    return concatenate_text("unusual integer of ", bits, " bits");
  const char* order = bits > 8 && H5Tget_order(type) == H5T_ORDER_BE ? "big-endian " : "";
  const char* sign = H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int";
  return concatenate_text(order, sign, bits);
}

// h5py writes truth values as an enumeration of two bytes.
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
