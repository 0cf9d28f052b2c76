// Split: a deterministic assignment of examples to training, validation and test.
#pragma once

#include <string>
#include <string_view>

#include <weft/autograd/enum_names.hpp>

namespace weft::examples {

// The splits contain about 90 %, 5 % and 5 % of all examples.
enum class Split { train, validation, test };

// Returns the split of the example with this key, such as a dictionary word. It depends only on the
// FNV-1a hash of the key's bytes.
Split split_of(std::string_view key);

inline constexpr EnumNames<Split, 3> split_names{{
    {Split::train, "train"},
    {Split::validation, "validation"},
    {Split::test, "test"},
}};
inline std::string to_string(Split split) { return name_of("split", split, split_names); }
// Returns the split with this name. Throws ValueError for an unknown name.
inline Split parse_split(const std::string& name) {
  return enum_from_name("split", name, split_names);
}

}  // namespace weft::examples
