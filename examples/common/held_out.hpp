// Held-out examples: which of them training sees, and which are kept for judging what it learned.
#pragma once

#include <string>
#include <string_view>

namespace weft::examples {

// 90 % of all examples are for training, 5 % for validation, 5 % for the test.
enum class Split { train, validation, test };

// The part that an example belongs to: a function of the letters of its key alone (FNV-1a). The key
// is the word of a dictionary, say.
Split split_of(std::string_view key);

// "train", "validation", "test" and back. Throws ValueError for any other name.
std::string to_string(Split part);
Split split_named(const std::string& name);

}  // namespace weft::examples
