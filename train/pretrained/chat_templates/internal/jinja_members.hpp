// Attributes, items and methods of values in chat templates.
#pragma once

#include <string_view>

#include "train/pretrained/chat_templates/internal/jinja_functions.hpp"

namespace weft::jinja {

// Returns a method or attribute, such as "split" of "str" or "index" of "loop", or null if the type
// has no such member.
const Signature* find_member(std::string_view type, std::string_view name);

// Return value.name and value[key], or undefined if there is no such element.
Value attribute(Run& run, const Value& own, const Text& name);
Value element(Run& run, const Value& own, const Value& key);

}  // namespace weft::jinja
