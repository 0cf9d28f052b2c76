#include "train/parallel/internal/sum_tree.hpp"

namespace weft {
namespace {

void add_tree(const PartRange& parts, std::vector<Addition>& additions) {
  if (parts.size() < 2) return;
  const Index middle = parts.first + parts.size() / 2;
  add_tree({parts.first, middle}, additions);
  add_tree({middle, parts.last}, additions);
  additions.push_back({parts, middle});
}

}  // namespace

std::vector<Addition> sum_tree(Index parts) {
  std::vector<Addition> additions;
  add_tree({0, parts}, additions);
  return additions;
}

PartRange parts_of_process(Index parts, int rank, int size) {
  return {parts * rank / size, parts * (rank + 1) / size};
}

}  // namespace weft
