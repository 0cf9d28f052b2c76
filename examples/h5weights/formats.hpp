// Formats: numbers and counts as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::h5weights {

// An integer with a comma between groups of three digits.
std::string grouped(std::uintmax_t number);
// With four significant digits.
std::string rounded(double number);
// "1 dataset", "2 datasets".
std::string counted(std::size_t count, const std::string& what);

}  // namespace weft::h5weights
