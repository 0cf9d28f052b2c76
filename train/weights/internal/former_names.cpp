#include "train/weights/internal/former_names.hpp"

namespace weft {

std::string former_name(const std::string& name) {
  if (name == "validations_without_improvement") return "not_better";
  // LearnedPositionalEncoding kept its vectors in an Embedding.
  const std::string own = "weight";
  if (name == own || name.ends_with("." + own))
    return name.substr(0, name.size() - own.size()) + "positions.weight";
  return "";
}

}  // namespace weft
