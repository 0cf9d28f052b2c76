#include "examples/h5weights/formats.hpp"

#include <iomanip>

#include <weft/autograd/error.hpp>

namespace weft::h5weights {

std::string grouped(std::uintmax_t number) {
  std::string digits = str_cat(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string rounded(double number) { return str_cat(std::setprecision(4), number); }

std::string counted(std::size_t count, const std::string& what) {
  return str_cat(grouped(count), ' ', what, count == 1 ? "" : "s");
}

}  // namespace weft::h5weights
