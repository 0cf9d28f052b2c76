// Split: a deterministic assignment of examples to training, validation and test.
#pragma once

#include <string>
#include <string_view>

#include <weft/autograd/enum_names.hpp>

namespace weft::examples {

// About 90 % of all examples are for training, 5 % for validation and 5 % for testing.
enum class Split { train, validation, test };

// The split of the example with this key, such as a dictionary word. It depends only on the bytes
// of the key (through its FNV-1a hash).
Split split_of(std::string_view key);

inline constexpr EnumNames<Split, 3> split_names{{
    {Split::train, "train"},
    {Split::validation, "validation"},
    {Split::test, "test"},
}};
inline std::string to_string(Split split) { return name_of("split", split, split_names); }
// The inverse of to_string. Throws ValueError for any other name.
inline Split parse_split(const std::string& name) {
  return enum_from_name("split", name, split_names);
}

}  // namespace weft::examples
