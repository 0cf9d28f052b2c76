// The filters of chat templates.
#pragma once

#include <string_view>

#include "train/pretrained/internal/jinja_functions.hpp"

namespace weft::jinja {

// Returns a filter; null for a name that Jinja does not have.
const Signature* find_filter(std::string_view name);

}  // namespace weft::jinja
