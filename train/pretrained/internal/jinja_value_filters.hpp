// Filters of single numbers and strings.
#pragma once

#include "train/pretrained/internal/jinja_functions.hpp"

namespace weft::jinja {

Value as_float(Call& call);
Value as_integer(Call& call);
Value rounded(Call& call);
Value indented(Call& call);
Value truncated(Call& call);
Value in_titles(Call& call);
Value url_encoded(Call& call);

}  // namespace weft::jinja
