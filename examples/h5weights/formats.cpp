#include "examples/h5weights/formats.hpp"

#include <sstream>

#include <weft/autograd/error.hpp>

namespace weft::h5weights {

std::string grouped(std::uintmax_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string rounded(double number) {
  std::ostringstream out;
  out.precision(4);
  out << number;
  return std::move(out).str();
}

std::string counted(std::size_t count, const std::string& what) {
  return concatenate_text(grouped(count), ' ', what, count == 1 ? "" : "s");
}

}  // namespace weft::h5weights
