// Functions that format numbers and counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::h5weights {

// Formats an integer with a comma between groups of three digits: "1,234,567".
std::string grouped(std::uintmax_t number);
// Formats a number with four significant digits.
std::string rounded(double number);
// Formats a count with a noun: "1 dataset", "2 datasets".
std::string counted(std::size_t count, const std::string& what);

}  // namespace weft::h5weights
