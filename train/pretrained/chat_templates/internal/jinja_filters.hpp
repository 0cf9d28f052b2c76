// The filters of chat templates.
#pragma once

#include <string_view>

#include "train/pretrained/chat_templates/internal/jinja_functions.hpp"

namespace weft::jinja {

// Returns the filter called `name`, or null if Jinja has no such filter.
const Signature* find_filter(std::string_view name);

}  // namespace weft::jinja
