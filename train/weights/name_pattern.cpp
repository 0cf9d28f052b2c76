#include "weft/train/weights/name_pattern.hpp"

#include "train/weights/internal/name_expression.hpp"

namespace weft {

NameFilter matching(const std::string& pattern, const std::string& what) {
  return [expression = NameExpression(what, pattern)](const std::string& name) {
    return expression.matches(name);
  };
}

}  // namespace weft
