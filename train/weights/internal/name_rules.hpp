// NameRules: translates between the names of weights in other programs and in weft.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "weft/autograd/shape.hpp"

namespace weft {

// One thing under its two names, each some parts of a dotted name: {"h.#.ln_1", "blocks.#.norm1"}.
// Both sides have the same numbers '#'. On the side of the other program, "part?" may be absent
// from a name that is read, and is always written; "part$" is the last of a name. On the side of
// weft, "W_q|W_k|W_v" are weights that one dataset contains, each an equal part of it. An empty
// side means that the parts are left out.
struct NameRule {
  std::string_view theirs, ours;
};

// A weight by name, and which of how many equal parts of a dataset it is.
struct WeightPart {
  std::string name;
  Index part = 0, parts = 1;

  friend bool operator==(const WeightPart&, const WeightPart&) = default;
};

// Reads a name from left to right: the parts that a rule has are replaced, by the first of such
// rules, and others are copied.
class NameRules {
 public:
  NameRules() = default;
  NameRules(std::initializer_list<NameRule> rules);

  // These rules, then others, which are for reading only.
  NameRules also_reading(const NameRules& others) const;

  // The weights in a dataset of that name.
  std::vector<WeightPart> ours(std::string_view name) const;
  // The dataset of a weight of that name, of which each part but the last must be in a rule: empty
  // when one is not.
  WeightPart theirs(std::string_view name) const;

 private:
  using Parts = std::vector<std::string_view>;
  struct Rule {
    Parts theirs, ours;
    bool is_written = true;
  };
  struct Rewritten;

  Rewritten rewrite(std::string_view name, Parts Rule::*from, Parts Rule::*to) const;

  std::vector<Rule> rules_;
};

}  // namespace weft
