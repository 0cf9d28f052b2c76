// The tests of chat templates, after "is".
#pragma once

#include <string_view>

#include "train/pretrained/chat_templates/internal/jinja_functions.hpp"

namespace weft::jinja {

// Returns the test called `name`, or null if Jinja has no such test.
const Signature* find_test(std::string_view name);

}  // namespace weft::jinja
