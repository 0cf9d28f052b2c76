// Split: a deterministic assignment of examples to training, validation and test.
#pragma once

#include <string>
#include <string_view>

namespace weft::examples {

// About 90 % of all examples are for training, 5 % for validation and 5 % for testing.
enum class Split { train, validation, test };

// The split of the example with this key, such as a dictionary word. It depends only on the bytes
// of the key (through its FNV-1a hash).
Split split_of(std::string_view key);

// "train", "validation" or "test".
std::string to_string(Split split);
// The inverse of to_string. Throws ValueError for any other name.
Split parse_split(const std::string& name);

}  // namespace weft::examples
