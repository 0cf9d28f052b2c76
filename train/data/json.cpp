#include "weft/train/data/json.hpp"

#include "train/files/json.hpp"

namespace weft {

void check_json(std::string_view text) { static_cast<void>(read_json(text)); }

}  // namespace weft
