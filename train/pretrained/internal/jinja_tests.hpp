// The tests of chat templates, after "is".
#pragma once

#include <string_view>

#include "train/pretrained/internal/jinja_functions.hpp"

namespace weft::jinja {

// Returns a test; null for a name that Jinja does not have.
const Signature* find_test(std::string_view name);

}  // namespace weft::jinja
