#include "weft/train/files/json.hpp"

#include "train/files/internal/json.hpp"

namespace weft {

void check_json(std::string_view text) { static_cast<void>(read_json(text)); }

}  // namespace weft
