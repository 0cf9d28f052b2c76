#include "examples/common/held_out.hpp"

#include <weft/train/data/fnv1a.hpp>

namespace weft::examples {

Split split_of(std::string_view key) {
  Fnv1a hash;
  hash.add(key);
  const std::uint64_t percent = hash.value() % 100;
  return percent < 90 ? Split::train : percent < 95 ? Split::validation : Split::test;
}

}  // namespace weft::examples
