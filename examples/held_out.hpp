// Held-out examples: which of them training sees, and which are kept for judging what it learned.
#pragma once

#include <string>
#include <string_view>

namespace weft::examples {

// 90 % of all examples are for training, 5 % for validation, 5 % for the test.
enum class Part { train, validation, test };

// The part that an example belongs to: a function of the letters of its key alone (FNV-1a). The key
// is the word of a dictionary, say.
Part part_of(std::string_view key);

// "train", "validation", "test" and back. Throws ValueError for any other name.
std::string to_string(Part part);
Part part_named(const std::string& name);

}  // namespace weft::examples
